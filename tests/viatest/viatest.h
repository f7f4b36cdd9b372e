/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIATEST_H
#define VIATEST_H

/* The commands: argv[0] is the command's name; the status of the process. */
int viatest_stress(int argc, char **argv);
int viatest_scale(int argc, char **argv);
int viatest_fuzz(int argc, char **argv);
int viatest_fault(int argc, char **argv);
int viatest_frames(int argc, char **argv);
int viatest_regress(int argc, char **argv);

#endif

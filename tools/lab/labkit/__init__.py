# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The parts of mvia's virtual-machine lab; programs import lab, not these."""

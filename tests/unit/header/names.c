/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names that are a program's own: as macros before and after vipl.h, and as
 * functions, types and variables beside it. Compiled, never run.
 */
#include <stdint.h>
#include <stddef.h>

#define linux		1
#define unix		1
#define i386		1
#define status		no status
#define state		no state
#define index		no index
#define lock		no lock
#define unlock		no unlock
#define list		no list
#define next		no next
#define prev		no prev
#define len		no len
#define length		no length
#define size		no size
#define count		no count
#define addr		no addr
#define address		no address
#define handle		no handle
#define handler		no handler
#define context		no context
#define timeout		no timeout
#define desc		no desc
#define descriptor	no descriptor
#define nic		no nic
#define vi		no vi
#define cq		no cq
#define name		no name
#define data		no data
#define control		no control
#define flags		no flags
#define type		no type
#define value		no value
#define error		no error
#define send		no send
#define recv		no recv
#define read		no read
#define write		no write
#define open		no open
#define close		no close
#define poll		no poll
#define min(a, b)	no min
#define max(a, b)	no max
#define bool		no bool
#define true		no true
#define false		no false
#define BOOL		no BOOL
#define BOOLEAN		no BOOLEAN
#define TRUE		no TRUE
#define FALSE		no FALSE
#define CHAR		no CHAR
#define UCHAR		no UCHAR
#define USHORT		no USHORT
#define ULONG		no ULONG
#define UINT32		no UINT32
#define PVOID		no PVOID
#define HANDLE		no HANDLE
#define STATUS		no STATUS
#define ERROR		no ERROR
#define SUCCESS		no SUCCESS
#define INFINITE	no INFINITE
#define MTU		no MTU
#define MAX		no MAX
#define MIN		no MIN
#define DEBUG		no DEBUG
#define PACKED		no PACKED
#define EXTERN		no EXTERN
#define INLINE		no INLINE
#define CONST		no CONST
#define UNION		no UNION
#define OPTIONAL	no OPTIONAL

#include <vipl.h>

#undef linux
#undef status
#undef index
#undef lock
#undef name
#undef send
#undef poll
#undef error
#undef BOOLEAN
#undef HANDLE
#undef SUCCESS

/* IN and OUT are empty, and may be used as the old headers did. */
extern int names_in_out(IN int a, OUT int *b);
/* What the header leaves to the program. */
extern int linux, status, index(int lock), send(void), poll(void);
extern struct lock *name;
extern int error;
typedef int BOOLEAN;
typedef void *HANDLE;
enum names { SUCCESS };

/* Kernel code of old found no such name. */
#ifdef VIP_KERNEL
#ifdef VIP_INFINITE
#error "VIP_INFINITE is visible with VIP_KERNEL"
#endif
#endif

/* Nothing else stays behind. */
#if defined(VIP_EXTENSION_) || !defined(_VIPL_) || !defined(_VIPL_H)
#error "macros"
#endif

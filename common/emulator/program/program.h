// The decoded program: functions, what their instructions refer to, and what can be asked of it.
#pragma once

#include "emulator/alu/matrix.h"
#include "emulator/program/opcodes.h"

// ---- Addresses --------------------------------------------------------------------------------------------

// Generic addresses: the top bits name an object, so that an index that runs off one object, however far,
// never reaches another. Object 0 is never memory (null pointers), 1 to 5 are windows.
#define ADDRESS_SHIFT 40
#define SHARED_WINDOW (1ull << ADDRESS_SHIFT)
#define LOCAL_WINDOW (2ull << ADDRESS_SHIFT)
#define PARAM_WINDOW (3ull << ADDRESS_SHIFT)
#define FUNCTION_WINDOW (4ull << ADDRESS_SHIFT)
#define TEXTURE_WINDOW (5ull << ADDRESS_SHIFT)

// ---- Functions --------------------------------------------------------------------------------------------

// A .param variable of a call sequence or of a device function: lane l's bytes lie together at
// registers + offset + l * bytes.
typedef struct {
    int32_t offset;
    uint32_t bytes;
} ParamPlace;

// Where a register lies.
typedef struct {
    int32_t offset;
    uint32_t width; // bytes of a lane; 0: a predicate
} RegisterPlace;

typedef struct Function {
    const PtxFunction *ptx;
    Instruction *code;
    int count;
    uint32_t register_bytes; // of a warp's register file
    uint32_t written_from,
        written_to;       // part of it, whose registers are written before they are read, or unset
    uint32_t local_bytes; // of .local variables, per thread
    bool is_refused;      // its code only says so, and its registers have no room for parameters
    ParamPlace *parameters, *returns; // device functions
    int parameter_count, return_count;
    const int32_t *register_offset; // by index of a register in `ptx`
    RegisterPlace *unset;           // registers that a thread may read before it writes them: unset.c
    int unset_count;
    bool has_choices; // some load's value is taken or dropped by a selection: choice.h
    bool lowered;
} Function;

// ---- What instructions refer to ---------------------------------------------------------------------------

// The functions that device code calls and nobody defines.
typedef enum {
    NO_SYSCALL,
    SYSCALL_VPRINTF,
    SYSCALL_ASSERTFAIL,
    SYSCALL_MALLOC,
    SYSCALL_FREE,
    SYSCALL_SET_CONDITION,
    // Of kernels that launch kernels: machine/child.h.
    SYSCALL_PARAMETER_BUFFER,
    SYSCALL_LAUNCH_DEVICE,
    SYSCALL_COPY_ASYNC,
    SYSCALL_STREAM_CREATE,
    SYSCALL_STREAM_DESTROY,
    SYSCALL_LAST_ERROR,
    SYSCALL_PEEK_ERROR,
    SYSCALL_DEVICE_MALLOC,
    SYSCALL_DEVICE_FREE,
} Syscall;

// Instruction.detail of KIND_CALL.
typedef struct {
    const Function *function; // NULL: indirect, through src[0], or a system call
    Syscall syscall;
    ParamPlace *arguments, *results; // in the caller's register file
    int argument_count, result_count;
} CallDetail;

// Instruction.detail of KIND_BRANCH_TABLE: brx.idx, indexed by src[0].
typedef struct {
    const int32_t *targets;
    int count;
} BranchTable;

// Instruction.literal[0] of KIND_SPECIAL.
typedef enum {
    SPECIAL_TID_X,
    SPECIAL_TID_Y,
    SPECIAL_TID_Z,
    SPECIAL_NTID_X,
    SPECIAL_NTID_Y,
    SPECIAL_NTID_Z,
    SPECIAL_CTAID_X,
    SPECIAL_CTAID_Y,
    SPECIAL_CTAID_Z,
    SPECIAL_NCTAID_X,
    SPECIAL_NCTAID_Y,
    SPECIAL_NCTAID_Z,
    SPECIAL_LANEID,
    SPECIAL_WARPID,
    SPECIAL_NWARPID,
    SPECIAL_SMID,
    SPECIAL_NSMID,
    SPECIAL_GRIDID,
    SPECIAL_LANEMASK_EQ,
    SPECIAL_LANEMASK_LE,
    SPECIAL_LANEMASK_LT,
    SPECIAL_LANEMASK_GE,
    SPECIAL_LANEMASK_GT,
    SPECIAL_CLOCK,
    SPECIAL_CLOCK_HI,
    SPECIAL_CLOCK64,
    SPECIAL_GLOBALTIMER,
    SPECIAL_GLOBALTIMER_LO,
    SPECIAL_GLOBALTIMER_HI,
    SPECIAL_DYNAMIC_SHARED,
    SPECIAL_TOTAL_SHARED,
    SPECIAL_WORKSPACE_HI,
    SPECIAL_WORKSPACE_LO,
    SPECIAL_CLUSTERID_X,
    SPECIAL_CLUSTERID_Y,
    SPECIAL_CLUSTERID_Z,
    SPECIAL_NCLUSTERID_X,
    SPECIAL_NCLUSTERID_Y,
    SPECIAL_NCLUSTERID_Z,
    SPECIAL_CLUSTER_CTAID_X,
    SPECIAL_CLUSTER_CTAID_Y,
    SPECIAL_CLUSTER_CTAID_Z,
    SPECIAL_CLUSTER_NCTAID_X,
    SPECIAL_CLUSTER_NCTAID_Y,
    SPECIAL_CLUSTER_NCTAID_Z,
    SPECIAL_CLUSTER_CTARANK,
    SPECIAL_CLUSTER_NCTARANK,
    SPECIAL_IS_EXPLICIT_CLUSTER, // a predicate
    SPECIAL_RESERVED_SHARED,     // bytes of shared memory that the system keeps
    SPECIAL_ZERO,
    SPECIAL_COUNT
} SpecialRegister;

// Instruction.operation of KIND_ATOMIC.
typedef enum {
    ATOMIC_ADD,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_EXCH,
    ATOMIC_CAS,
    ATOMIC_INC,
    ATOMIC_DEC,
    ATOMIC_MIN,
    ATOMIC_MAX
} AtomicOperation;

// Instruction.operation of KIND_ALU: which bytes of a result are undefined if some of a source are. width is
// that of the elements of VALUE_MOVED.
typedef enum {
    VALUE_COMPUTED, // all of them
    VALUE_MOVED,    // those that come from there: mov, of vectors too
    VALUE_CHOSEN,   // likewise, of the operand that is chosen: selp
    VALUE_AND,      // likewise, but not where the other operand is 0, and
    VALUE_OR,       // not where it is all ones
} ValueOperation;

// Instruction.operation of KIND_BARRIER.
typedef enum {
    BARRIER_SYNC,
    BARRIER_ARRIVE,
    BARRIER_RED_POPC,
    BARRIER_RED_AND,
    BARRIER_RED_OR
} BarrierOperation;

// Instruction.operation of KIND_SHUFFLE, KIND_VOTE, KIND_MATCH and KIND_REDUX.
typedef enum { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX } ShuffleOperation;
typedef enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT } VoteOperation;
typedef enum { MATCH_ANY, MATCH_ALL } MatchOperation;
typedef enum { REDUX_ADD, REDUX_MIN, REDUX_MAX, REDUX_AND, REDUX_OR, REDUX_XOR } ReduxOperation;

// Instruction.operation of KIND_CP_ASYNC and KIND_CP_ASYNC_WAIT.
typedef enum { ASYNC_COPY, ASYNC_COMMIT, ASYNC_WAIT_GROUP, ASYNC_WAIT_ALL } AsyncOperation;

// Instruction.operation of KIND_MATRIX_MOVE: 8 x 8 matrices of halves. As rows, lane 8 i + r has row r of
// matrix i in four registers; as a fragment, each matrix is one register of all lanes.
typedef enum { MOVE_ROWS_TO_FRAGMENT, MOVE_FRAGMENT_TO_ROWS, MOVE_FRAGMENT } MatrixMove;

// Instruction.operation of KIND_FENCE.
enum { FENCE_OF_THREADS, FENCE_OF_PROXY };

// Instruction.operation of KIND_BULK_WAIT.
typedef enum { BULK_COMMIT, BULK_WAIT_GROUP, BULK_WAIT_READ } BulkWait;

// An address of KIND_BULK, in src[] of the instruction.
typedef struct {
    int64_t offset;
    uint8_t space;  // PtxSpace
    uint16_t flags; // ADDRESS_32, IN_CLUSTER
} BulkAddress;

enum { BULK_TO, BULK_FROM, BULK_MBARRIER, BULK_ADDRESSES, BULK_SIZE = BULK_ADDRESSES, BULK_MASK };

// Instruction.detail of KIND_ASYNC_STORE, which has no FROM and no SIZE but values in `more`; and of
// KIND_BULK: a copy, or a reduction by the instruction's atomic operation, of src[BULK_SIZE] bytes or of a
// box of a tensor, whose map is in the place of an address. It completes at an mbarrier, or else a bulk
// group; `has_mask`: src[BULK_MASK] says to which blocks of the cluster it goes, or which bytes of 16 it
// writes.
typedef struct {
    BulkAddress at[BULK_ADDRESSES];
    bool is_reduction, has_mbarrier, is_multicast, masks_bytes;
    uint8_t rank;               // of a tensor copy, whose coordinates are in `more`; 0: it copies bytes
    const Instruction *by_type; // of a reduction of tensors: by TensorType; type PTX_NO_TYPE: there is none
} BulkDetail;

// Instruction.operation of KIND_WGMMA_ORDER.
typedef enum { WGMMA_FENCE, WGMMA_COMMIT, WGMMA_WAIT } WgmmaOrder;

// Instruction.detail of KIND_WGMMA. Of src[] the last is the mask of all lanes; `more` has the sums, and
// behind them a's registers.
typedef struct {
    MatrixForm form; // of GROUP_COLUMNS columns, or less
    uint16_t n;
    uint8_t sums; // registers
    bool a_in_registers;
    bool is_turned[2]; // a, b: contiguous along m, n instead of k
} WgmmaDetail;
enum { WGMMA_A, WGMMA_B, WGMMA_SCALE, WGMMA_MASK }; // descriptors, and whether the sums are read

// Instruction.flags.
enum {
    HAS_CARRY = 1,   // of KIND_ALU: takes or leaves the carry
    ADDRESS_32 = 1,  // the address register has 32 bits
    IS_VOLATILE = 2, // .volatile, .relaxed and stronger
    IS_ACQUIRE = 4,
    IS_RELEASE = 8,
    NO_RESULT = 16,    // red, or atom whose destination is a sink or never read
    IS_ALIGNED = 32,   // a barrier all lanes of a warp must reach together
    IS_RELAXED = 32,   // of a memory access: .relaxed and stronger, where .volatile is only IS_VOLATILE
    IS_NC = 64,        // ld.global.nc
    SCOPE_CTA = 128,   // an order among the threads of one block only
    IS_SC = 1,         // of a fence: fence.sc, membar
    IS_TRANSPOSED = 1, // of KIND_MATRIX_MOVE
    IN_CLUSTER = 256,  // an address of .shared::cluster, which may lie in another block of the cluster
};

// Whether a thread can wait with this access to memory: it sees what others store, and its result is used.
static inline bool can_poll(const Instruction *in) {
    return in->flags & IS_VOLATILE && !(in->flags & NO_RESULT);
}

// Instruction.operation of KIND_MBARRIER and KIND_MBARRIER_WAIT, and their flags in literal[0].
typedef enum {
    MBARRIER_INIT,
    MBARRIER_INVAL,
    MBARRIER_EXPECT_TX,
    MBARRIER_COMPLETE_TX,
    MBARRIER_ARRIVE,
    MBARRIER_ARRIVE_DROP,
    MBARRIER_WAIT,
} MbarrierOperation;
enum {
    MBARRIER_KEEPS_PHASE = 1, // .noComplete
    MBARRIER_EXPECTS = 2,     // .expect_tx of an arrival: src[1] is a number of bytes, and one thread arrives
    MBARRIER_PARITY = 4,      // a wait for the phase of that parity, not of a state
};

// ---- The program ------------------------------------------------------------------------------------------

// The .shared variables that a kernel can reach, laid out.
typedef struct {
    const PtxVariable *variable;
    uint32_t offset; // in emulated shared memory, with gaps
    uint32_t bytes;  // 0 for the dynamic array
} SharedPlace;

typedef struct Program {
    PtxModule *module;   // owned
    Function *functions; // one per PtxModule.functions, same order
    SharedPlace *shared; // of all kernels together: a variable belongs to one of them, or to all
    int shared_count;
    const unsigned char *shared_uses; // reach.c
    uint32_t dynamic_shared_offset;
    const Instruction **by_number;
    int instruction_count;
    bool uses_heap;        // some function calls malloc() or free()
    bool may_wait;         // some function reads memory in a way that can wait for another thread's store
    bool uses_async_proxy; // some instruction is a bulk copy, an asynchronous store or wgmma
    const char *name;
    void *storage;
} Program;

void program_free(Program *program);

// The learner's place of an instruction: the innermost location in the .cu file, following inlined_at.
SourcePlace place_of(const Program *program, const Instruction *in);

// The static shared memory of `entry` as hardware lays it out: bytes without gaps.
size_t static_shared_bytes(const Program *program, const PtxFunction *entry);
// True when `entry`, or what it calls, names Program.shared[place].
bool uses_shared(const Program *program, const PtxFunction *entry, int place);

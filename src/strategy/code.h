/* What a source says, as far as rules ask: functions and where they run, variables and where they live, loops, calls,
 * assignments, accesses to memory, and how every value depends on the thread. Flow is followed by name, without regard
 * to order inside loops; what is not understood is "unknown", never a guess. For src/strategy. */
#ifndef AE_STRATEGY_CODE_H
#define AE_STRATEGY_CODE_H

#include "strategy/syntax.h"

enum ae_space { SPACE_UNKNOWN, SPACE_GLOBAL, SPACE_SHARED, SPACE_CONSTANT, SPACE_LOCAL, SPACE_HOST };

/* What a value depends on. */
enum ae_deps {
    D_TX = 1 << 0,     /* threadIdx.x or its like */
    D_TYZ = 1 << 1,    /* threadIdx.y, .z */
    D_BLOCK = 1 << 2,  /* blockIdx */
    D_BDIM = 1 << 3,   /* blockDim */
    D_GDIM = 1 << 4,   /* gridDim */
    D_LANE = 1 << 5,   /* threadIdx.x % 32 */
    D_WARP = 1 << 6,   /* threadIdx.x / 32 */
    D_LOADED = 1 << 7, /* read from global, shared or constant memory, or from another thread */
    D_ATOMIC = 1 << 8, /* returned by an atomic */
    D_PARAM = 1 << 9,  /* parameter of the function */
    D_LOOP = 1 << 10,  /* changes in a loop */
    D_FLOAT = 1 << 11, /* has a floating-point type */
    D_CALLED = 1 << 12 /* made by a function that is not seen through */
};

/* How a value changes from one thread of a warp to the next. */
enum ae_coef { COEF_NONE, COEF_ONE, COEF_OTHER, COEF_GATHER };

enum ae_constness { CONST_NO, CONST_KNOWN, CONST_UNKNOWN /* a compile-time constant of unknown value */ };

struct ae_value {
    bool set;
    uint8_t coef, space, constness;
    uint8_t stride; /* COEF_OTHER: elements from one thread to the next; 0: not known */
    uint32_t deps;
    int64_t number; /* CONST_KNOWN */
    int root;       /* of a pointer: variable that it was made from; -1 */
};

enum ae_element {
    E_OTHER,
    E_FLOAT,
    E_DOUBLE,
    E_HALF,
    E_INT,
    E_UNSIGNED,
    E_LONG,
    E_BYTE,
    E_SHORT,
    E_BOOL,
    E_VECTOR,
    E_VOID
};

struct ae_function {
    int node, body, parameters, name;
    bool kernel, device, host; /* host: not marked for the device */
    bool entry;                /* solution_compute */
    bool tiled;                /* keeps a register tile: set by the rule of M04 */
    int template;              /* template_declaration around it; -1 */
    int first_variable, first_assign, last_assign;
};

#define AE_DIMS 4

struct ae_variable {
    int name, function; /* -1: file scope; -2: field of a structure */
    int node;           /* its identifier */
    int declaration, type, initial;
    int dims[AE_DIMS], dim_count;
    enum ae_element element;
    bool pointer, reference, points_to_const, restricted, shared, constant, device, parameter, array, external;
    bool rows; /* a pointer to arrays of these dimensions */
    bool template_parameter;
    bool broadcast; /* one lane hands it to all of its warp */
    int position; /* among parameters */
    int loop;     /* innermost around the declaration */
    int alias;    /* pointer: variable that it was made from, or that a caller hands to it; -1 */
    struct ae_value value;
    int next_same_name;
};

enum ae_assign_kind {
    ASSIGN_INIT,
    ASSIGN_SET,
    ASSIGN_ADD,
    ASSIGN_SUB,
    ASSIGN_MUL,
    ASSIGN_DIV,
    ASSIGN_SHIFT_LEFT,
    ASSIGN_SHIFT_RIGHT,
    ASSIGN_OR,
    ASSIGN_AND,
    ASSIGN_XOR,
    ASSIGN_STEP /* ++ and -- */,
    ASSIGN_OTHER
};

struct ae_assign {
    int node, target, right; /* right -1: ++ and -- */
    int variable;            /* a plain variable; -1: an element, a field, a dereference */
    enum ae_assign_kind kind;
    int function, loop;
};

enum ae_loop_kind { LOOP_FOR, LOOP_WHILE, LOOP_DO, LOOP_RANGE };

struct ae_loop {
    int node, body, condition, function, parent;
    enum ae_loop_kind kind;
    bool device;
    int variable;      /* that it counts; -1 */
    int initial, step; /* nodes; step -1: one, or none found */
    enum ae_assign_kind step_kind;
    int64_t trips;        /* of constant bounds; -1: not known to be constant */
    bool constant;        /* bounds are compile-time constants */
    bool geometric;       /* the variable is halved or doubled */
    bool barrier, launch; /* contains __syncthreads() or its like; a launch */
};

struct ae_call_site {
    int node, callee, name, arguments; /* name: of the last part of a qualified name */
    int function, loop;
    int target;    /* function of this source; -1 */
    int launch;    /* kernel_call_syntax; -1 */
    bool launches; /* <<<>>> or cudaLaunch* */
};

struct ae_access {
    int node;     /* subscript, dereference or call */
    int variable; /* named at the access (a field too); -1 */
    int root;     /* variable that the pointer was made from; -1 */
    int name;
    enum ae_space space;
    struct ae_value address;
    int last_index; /* node of the last index; -1 */
    int indices;
    int function, loop;
    bool read, write, atomic;
};

struct ae_program {
    struct ae_syntax syntax;
    struct ae_function *functions;
    struct ae_variable *variables;
    struct ae_assign *assigns;
    struct ae_loop *loops;
    struct ae_call_site *calls;
    struct ae_access *accesses;
    int function_count, variable_count, assign_count, loop_count, call_count, access_count;
    int *function_of, *loop_of; /* by node; -1 */
    int *chain;                 /* by name: newest variable */
    int entry;                  /* function; -1 */
    long budget;                /* evaluations left: hostile sources end early, with unknown values */
    int depth;
};

/* Takes the syntax over (also after a failure, when it is released). AE_E_NOMEM. */
int ae_code_read(struct ae_syntax *syntax, struct ae_program *ret, struct ae_error *err);
void ae_code_release(struct ae_program *code);

struct ae_value ae_value_of(struct ae_program *code, int node);

/* The variable that an identifier (or a field, or &x, or x.data()) names, seen from where it stands; -1. */
int ae_variable_at(const struct ae_program *code, int node);

static inline bool ae_on_device(const struct ae_program *code, int function)
{
    return function >= 0 && (code->functions[function].kernel || code->functions[function].device);
}
static inline const char *ae_name(const struct ae_program *code, int name)
{
    return name < 0 ? "" : code->syntax.names[name];
}
static inline bool ae_named(const struct ae_program *code, int name, const char *text)
{
    return name >= 0 && __builtin_strcmp(code->syntax.names[name], text) == 0;
}

/* The last part of a qualified name, a method's name, a template's without its arguments; -1. */
int ae_last_name(const struct ae_syntax *s, int callee);

/* n-th argument of a call. */
int ae_argument(const struct ae_program *code, const struct ae_call_site *call, int n);
/* The call that a node is; NULL. */
const struct ae_call_site *ae_call_at(const struct ae_program *code, int node);
/* The access that a subscript is; NULL. */
const struct ae_access *ae_access_at(const struct ae_program *code, int node);

/* Does the loop lie in `outer`, or is it that? Depth: loops around, itself counted. */
bool ae_loop_within(const struct ae_program *code, int loop, int outer);
int ae_loop_depth(const struct ae_program *code, int loop);

/* Is it one of a list of names that ends with NULL? */
bool ae_name_among(const struct ae_program *code, int name, const char *const *list);
/* Is some part of the name, cut at '_' and capitals, one of the words? "cellStart" has "cell". */
bool ae_name_has_word(const struct ae_program *code, int name, const char *const *words);

#endif

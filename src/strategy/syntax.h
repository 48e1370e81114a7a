/* A CUDA source as a flat syntax tree: nodes in preorder with parents, so that rules walk by index and never recurse
 * into tree-sitter. For src/strategy. */
#ifndef AE_STRATEGY_SYNTAX_H
#define AE_STRATEGY_SYNTAX_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tree_sitter/api.h>

/* Kinds of nodes that rules know by name; all others are OTHER. */
#define AE_NODE_KINDS(X)                                                                                               \
    X(IDENTIFIER, "identifier") X(FIELD_IDENTIFIER, "field_identifier") X(TYPE_IDENTIFIER, "type_identifier")          \
    X(NAMESPACE_IDENTIFIER, "namespace_identifier") X(QUALIFIED, "qualified_identifier")                               \
    X(TEMPLATE_FUNCTION, "template_function") X(TEMPLATE_METHOD, "template_method")                                    \
    X(TEMPLATE_TYPE, "template_type") X(TEMPLATE_ARGS, "template_argument_list")                                       \
    X(TEMPLATE_PARAMS, "template_parameter_list") X(TEMPLATE, "template_declaration")                                  \
    X(FUNCTION, "function_definition") X(DECLARATION, "declaration") X(FIELD_DECLARATION, "field_declaration")         \
    X(PARAMETER, "parameter_declaration") X(OPTIONAL_PARAMETER, "optional_parameter_declaration")                      \
    X(PARAMETERS, "parameter_list") X(TYPE_PARAMETER, "type_parameter_declaration")                                    \
    X(STRUCT, "struct_specifier") X(CLASS, "class_specifier") X(ENUMERATOR, "enumerator")                              \
    X(FUNCTION_DECLARATOR, "function_declarator") X(POINTER_DECLARATOR, "pointer_declarator")                          \
    X(REFERENCE_DECLARATOR, "reference_declarator") X(ARRAY_DECLARATOR, "array_declarator")                            \
    X(INIT_DECLARATOR, "init_declarator") X(PARENTHESIZED_DECLARATOR, "parenthesized_declarator")                      \
    X(ABSTRACT_POINTER, "abstract_pointer_declarator") X(QUALIFIER, "type_qualifier")                                  \
    X(STORAGE, "storage_class_specifier") X(PRIMITIVE_TYPE, "primitive_type")                                          \
    X(SIZED_TYPE, "sized_type_specifier") X(TYPE_DESCRIPTOR, "type_descriptor")                                        \
    X(LAUNCH_BOUNDS, "launch_bounds") X(COMPOUND, "compound_statement")                                                \
    X(EXPRESSION_STATEMENT, "expression_statement") X(IF, "if_statement") X(CONDITION, "condition_clause")             \
    X(FOR, "for_statement") X(FOR_RANGE, "for_range_loop") X(WHILE, "while_statement") X(DO, "do_statement")           \
    X(SWITCH, "switch_statement") X(BREAK, "break_statement") X(RETURN, "return_statement")                            \
    X(CONTINUE, "continue_statement") X(CALL, "call_expression") X(LAUNCH, "kernel_call_syntax")                       \
    X(ARGUMENTS, "argument_list") X(SUBSCRIPT, "subscript_expression") X(SUBSCRIPTS, "subscript_argument_list")        \
    X(FIELD, "field_expression") X(POINTER, "pointer_expression") X(BINARY, "binary_expression")                       \
    X(UNARY, "unary_expression") X(UPDATE, "update_expression") X(ASSIGNMENT, "assignment_expression")                 \
    X(CONDITIONAL, "conditional_expression") X(CAST, "cast_expression")                                                \
    X(PARENTHESIZED, "parenthesized_expression") X(COMMA, "comma_expression") X(NUMBER, "number_literal")              \
    X(TRUE, "true") X(FALSE, "false") X(LAMBDA, "lambda_expression") X(INITIALIZERS, "initializer_list")               \
    X(ASM, "gnu_asm_expression") X(STRING, "string_literal") X(STRING_CONTENT, "string_content")                       \
    X(PRAGMA, "preproc_call") X(DEFINE, "preproc_def") X(DEFINE_FUNCTION, "preproc_function_def")                      \
    X(PREPROC_ARG, "preproc_arg") X(COMMENT, "comment") X(ERROR, "ERROR") X(SIZEOF, "sizeof_expression")               \
    X(NEW, "new_expression") X(CASE, "case_statement") X(LABELED, "labeled_statement")                                 \
    X(NAMESPACE, "namespace_definition") X(COMPOUND_LITERAL, "compound_literal_expression")

enum ae_node_kind {
    N_OTHER,
#define AE_NODE_KIND(name, text) N_##name,
    AE_NODE_KINDS(AE_NODE_KIND)
#undef AE_NODE_KIND
    N_COUNT
};

/* Fields by which children are asked for. */
#define AE_NODE_FIELDS(X)                                                                                          \
    X(NAME, "name") X(BODY, "body") X(DECLARATOR, "declarator") X(TYPE, "type") X(PARAMETERS, "parameters")         \
    X(LEFT, "left") X(RIGHT, "right") X(OPERATOR, "operator") X(ARGUMENT, "argument") X(ARGUMENTS, "arguments")     \
    X(FUNCTION, "function") X(FIELD, "field") X(INDICES, "indices") X(VALUE, "value") X(CONDITION, "condition")     \
    X(CONSEQUENCE, "consequence") X(ALTERNATIVE, "alternative") X(INITIALIZER, "initializer") X(UPDATE, "update")   \
    X(SIZE, "size") X(SCOPE, "scope") X(DIRECTIVE, "directive")

enum ae_node_field {
    F_NONE,
#define AE_NODE_FIELD(name, text) F_##name,
    AE_NODE_FIELDS(AE_NODE_FIELD)
#undef AE_NODE_FIELD
    F_COUNT
};

struct ae_node {
    uint32_t start, end; /* bytes */
    uint32_t line;       /* from 1 */
    uint32_t last_line;
    int parent, first, next; /* indices; -1: none */
    int after;               /* index of the first node in preorder that is not below this one */
    int name;                /* of identifiers and number literals: id of the text, else -1 */
    uint8_t kind, field;
    bool named;
    uint16_t symbol; /* tree-sitter's */
};

/* Words that the grammar does not know, blanked before parsing. */
enum ae_mark_kind { MARK_CLUSTER_DIMS, MARK_MAXNREG, MARK_ALIGN, MARK_OTHER };
struct ae_mark {
    enum ae_mark_kind kind;
    uint32_t start;
    uint32_t line;
};

struct ae_syntax {
    char *text; /* blanked copy, NUL-terminated */
    size_t size;
    TSTree *tree;
    struct ae_node *nodes;
    int count;
    struct ae_mark *marks;
    int mark_count;
    char **names; /* by id */
    int name_count;
    int *name_table; /* open hash of ids */
    int name_slots;
    double unread; /* share of bytes below ERROR nodes */
};

/* What the grammar says of symbols and fields, looked up once. */
struct ae_grammar {
    const TSLanguage *language;
    uint8_t *kind_of;  /* by symbol */
    uint8_t *field_of; /* by tree-sitter's field id */
    uint32_t symbol_count, field_count;
};

/* AE_E_ENV: built without the grammar. */
int ae_grammar_open(struct ae_grammar *ret, struct ae_error *err);
void ae_grammar_close(struct ae_grammar *grammar);

/* AE_E_NOMEM, AE_E_INPUT where the text is too long. Release with ae_syntax_release(). */
int ae_syntax_parse(const struct ae_grammar *grammar, TSParser *parser, const char *text, size_t size,
                    struct ae_syntax *ret, struct ae_error *err);
void ae_syntax_release(struct ae_syntax *syntax);

/* The index of the node that a query captured; -1 where it is none of ours. */
int ae_syntax_index(const struct ae_syntax *syntax, TSNode node);

/* Child by field, n-th named child, -1 where there is none. Every function takes -1 and answers -1, NULL or false. */
int ae_child(const struct ae_syntax *s, int node, enum ae_node_field field);
int ae_nth(const struct ae_syntax *s, int node, int n);
int ae_first_of(const struct ae_syntax *s, int node, enum ae_node_kind kind); /* child of the kind */
static inline enum ae_node_kind ae_kind(const struct ae_syntax *s, int node)
{
    return node < 0 ? N_OTHER : (enum ae_node_kind)s->nodes[node].kind;
}
/* Nearest ancestor (not the node itself) of the kind. */
int ae_ancestor(const struct ae_syntax *s, int node, enum ae_node_kind kind);
bool ae_is_below(const struct ae_syntax *s, int node, int root); /* or the root itself */

/* Text of a node, compared. */
bool ae_text_is(const struct ae_syntax *s, int node, const char *text);
bool ae_same_text(const struct ae_syntax *s, int a, int b); /* but for white space */
bool ae_text_has(const struct ae_syntax *s, int node, const char *part);

/* Does an identifier of that name occur below the node? */
bool ae_mentions(const struct ae_syntax *s, int node, int name);

/* Through parentheses and casts. */
int ae_strip(const struct ae_syntax *s, int node);

#endif

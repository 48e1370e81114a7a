// verdict: compile_error
// Includes a file of the system, to have its text in an error message or in the object.

static const char secret[] =
#include "/etc/passwd"
    ;

void solution_compute(void)
{
    (void)secret;
}

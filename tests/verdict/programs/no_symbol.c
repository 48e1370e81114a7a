// verdict: bad_interface
// Defines no solution_compute.

int something_else(void)
{
    return 1;
}

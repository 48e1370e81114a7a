// verdict: bad_interface
// solution_compute is not a function.

int solution_compute = 1;

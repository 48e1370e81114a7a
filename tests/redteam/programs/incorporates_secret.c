// verdict: compile_error
// Has the assembler put a file of the system into the object.

__asm__(".section .rodata\n.incbin \"/etc/passwd\"\n.previous");

void solution_compute(void)
{
}

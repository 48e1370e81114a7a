// verdict: compile_error
// The same with the memory map of the process that started the compiler.

__asm__(".section .rodata\n.incbin \"/proc/1/maps\"\n.previous");

void solution_compute(void)
{
}

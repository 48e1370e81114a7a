/* Corpus of the ELF reader: what a submission must not look like. */
int solution_compute[4];
static _Thread_local int local[3];
int *memcpy(void);

__attribute__((constructor)) static void early(void)
{
    solution_compute[0] = local[1];
}

int *memcpy(void)
{
    return local;
}

__asm__(".comm common_block,4096,16\n"
        ".section .init_array.5,\"aw\"\n.zero 8\n"
        ".symver early,old_early@VERS_1\n"
        ".previous\n");

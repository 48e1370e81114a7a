/* The server as a program: llm_server [--delay MS] [--answer FILE]. Prints its port, runs until its standard input
 * ends, then prints what it served. */
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct ae_server_config config = {0};
    static char answer[65536];
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--delay") == 0)
            config.delay_ms = atoi(argv[i + 1]);
        FILE *in = strcmp(argv[i], "--answer") == 0 ? fopen(argv[i + 1], "re") : NULL;
        if (in) {
            answer[fread(answer, 1, sizeof answer - 1, in)] = 0;
            config.answer = answer;
            fclose(in);
        }
    }
    struct ae_server *server = ae_server_start(&config);
    if (!server)
        return 1;
    printf("%d\n", ae_server_port(server));
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0)
        ;
    const struct ae_server_counts counts = ae_server_counts(server);
    printf("requests %d answered %d in_flight_max %d\n", counts.requests, counts.answered, counts.in_flight_max);
    ae_server_stop(server);
    return 0;
}

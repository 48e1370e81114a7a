/* A server on the loopback device that speaks the three protocols as providers do, faults included. The name of the
 * model in a request chooses what happens; server.c lists the names. */
#ifndef AE_TESTS_LLM_SERVER_H
#define AE_TESTS_LLM_SERVER_H

#include <stddef.h>
#include <stdint.h>

struct ae_server_config {
    int port;           /* 0: any */
    const char *answer; /* what "normal" says; NULL: a short program */
    int delay_ms;       /* before each answer */
    const char *certificate, *private_key; /* PEM files: TLS; NULL: plain */
};

struct ae_server_counts {
    int requests;  /* heads and bodies read in full */
    int answered;  /* whole answers sent: what a provider would bill */
    int in_flight_max;
};

struct ae_server;

struct ae_server *ae_server_start(const struct ae_server_config *config); /* NULL: failed, with errno */
int ae_server_port(const struct ae_server *server);
struct ae_server_counts ae_server_counts(struct ae_server *server);
/* Head and body of the last request; freed by the caller. */
char *ae_server_last(struct ae_server *server);
void ae_server_stop(struct ae_server *server);

#endif

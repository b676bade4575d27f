/* port.h: where a program of the bench may listen. */
#ifndef BENCH_PORT_H
#define BENCH_PORT_H

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* A port that is free now. */
static inline int free_port(void) {
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof place;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&place, len) || getsockname(fd, (struct sockaddr *)&place, &len)) exit(1);
    close(fd);
    return ntohs(place.sin_port);
}

#endif

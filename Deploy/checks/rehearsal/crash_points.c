/* Loaded into a service with LD_PRELOAD, ends it with SIGKILL at a call of librdkafka or libpq: CRASH_AT=POINT:COUNT, the
   COUNT-th time that it comes to POINT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <librdkafka/rdkafka.h>
#include <libpq-fe.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void reach(const char *point) {
    static atomic_int times;
    const char *wanted = getenv("CRASH_AT");
    size_t length = strlen(point);
    if (wanted == NULL || strncmp(wanted, point, length) != 0 || wanted[length] != ':') return;
    if (atomic_fetch_add(&times, 1) + 1 == atoi(wanted + length + 1)) kill(getpid(), SIGKILL);
}

/* Kafka */

rd_kafka_resp_err_t rd_kafka_producev(rd_kafka_t *client, ...) {
    rd_kafka_vu_t values[16];
    size_t count = 0;
    va_list list;
    va_start(list, client);
    for (rd_kafka_vtype_t type; (type = va_arg(list, int)) != RD_KAFKA_VTYPE_END; count++) {
        values[count].vtype = type;
        switch (type) {
        case RD_KAFKA_VTYPE_TOPIC: values[count].u.cstr = va_arg(list, const char *); break;
        case RD_KAFKA_VTYPE_KEY:
        case RD_KAFKA_VTYPE_VALUE:
            values[count].u.mem.ptr = va_arg(list, void *);
            values[count].u.mem.size = va_arg(list, size_t);
            break;
        case RD_KAFKA_VTYPE_HEADERS: values[count].u.headers = va_arg(list, rd_kafka_headers_t *); break;
        case RD_KAFKA_VTYPE_TIMESTAMP: values[count].u.i64 = va_arg(list, int64_t); break;
        case RD_KAFKA_VTYPE_MSGFLAGS: values[count].u.i = va_arg(list, int); break;
        case RD_KAFKA_VTYPE_OPAQUE: values[count].u.ptr = va_arg(list, void *); break;
        default: abort();
        }
    }
    va_end(list);
    rd_kafka_error_t *error = rd_kafka_produceva(client, values, count);
    rd_kafka_resp_err_t code = error == NULL ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_error_code(error);
    if (error != NULL) rd_kafka_error_destroy(error);
    reach("produced");
    return code;
}

rd_kafka_event_t *rd_kafka_queue_poll(rd_kafka_queue_t *queue, int timeout) {
    rd_kafka_event_t *event = REAL(rd_kafka_queue_poll)(queue, timeout);
    switch (rd_kafka_event_type(event)) {
    case RD_KAFKA_EVENT_FETCH: reach("consumed"); break;
    case RD_KAFKA_EVENT_DR: reach("reported"); break;
    default: break;
    }
    return event;
}

rd_kafka_resp_err_t rd_kafka_commit_queue(rd_kafka_t *client, const rd_kafka_topic_partition_list_t *offsets,
                                          rd_kafka_queue_t *queue,
                                          void (*done)(rd_kafka_t *, rd_kafka_resp_err_t,
                                                       rd_kafka_topic_partition_list_t *, void *),
                                          void *opaque) {
    reach("offset");
    rd_kafka_resp_err_t code = REAL(rd_kafka_commit_queue)(client, offsets, queue, done, opaque);
    reach("offset-sent");
    return code;
}

/* Postgres */

/* Statements without a transaction of their own are committed by the end of their pipeline. */
int PQpipelineSync(PGconn *connection) {
    reach("pipeline");
    int is_sent = REAL(PQpipelineSync)(connection);
    reach("pipeline-sent");
    return is_sent;
}

static atomic_bool is_commit_unsent;

int PQsendQueryPrepared(PGconn *connection, const char *name, int count, const char *const *values, const int *lengths,
                        const int *formats, int format) {
    bool is_commit = strcmp(name, "commit") == 0;
    if (is_commit) reach("commit");
    int is_sent = REAL(PQsendQueryPrepared)(connection, name, count, values, lengths, formats, format);
    if (is_commit) is_commit_unsent = true;
    return is_sent;
}

int PQflush(PGconn *connection) {
    int left = REAL(PQflush)(connection);
    if (left == 0 && atomic_exchange(&is_commit_unsent, false)) reach("commit-sent");
    return left;
}

PGresult *PQgetResult(PGconn *connection) {
    PGresult *result = REAL(PQgetResult)(connection);
    if (result == NULL) return NULL;
    if (strcmp(PQcmdStatus(result), "COMMIT") == 0) reach("commit-answered");
    if (PQresultStatus(result) == PGRES_PIPELINE_SYNC) reach("pipeline-answered");
    return result;
}

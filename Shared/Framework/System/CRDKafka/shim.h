#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

/* rd_kafka_producev() is variadic and its arguments are macros; Swift imports neither.
 *
 * The partition is never named: naming one that does not exist frees headers twice before 2.12. Value and key are
 * copied. `key` NULL is "no key", which is not the same as an empty key. `headers` (may be NULL) and `opaque` belong to
 * the library if the result is RD_KAFKA_RESP_ERR_NO_ERROR, else they stay the caller's. `timestamp` 0 is "now". */
static inline rd_kafka_resp_err_t storekeeper_produce(rd_kafka_t *client, const char *topic, const void *key,
                                                      size_t key_size, const void *value, size_t value_size,
                                                      rd_kafka_headers_t *headers, int64_t timestamp, void *opaque) {
    return rd_kafka_producev(client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_KEY(key, key_size),
                             RD_KAFKA_V_VALUE((void *)(value ? value : ""), value_size),
                             RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_TIMESTAMP(timestamp),
                             RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_END);
}

/* Variadic, therefore not imported by Swift. */
static inline rd_kafka_resp_err_t storekeeper_mock_push_delayed_error(rd_kafka_mock_cluster_t *cluster, int32_t broker,
                                                                      int16_t request, rd_kafka_resp_err_t error,
                                                                      int milliseconds) {
    return rd_kafka_mock_broker_push_request_error_rtts(cluster, broker, request, 1, error, milliseconds);
}

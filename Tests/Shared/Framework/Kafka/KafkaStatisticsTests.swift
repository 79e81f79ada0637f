import Testing

@testable import Kafka

@Suite struct KafkaStatisticsTests {
    @Test func `KafkaStatistics finds the few numbers among the many`() throws {
        let json = """
            {"name":"rdkafka#producer-1","type":"producer","msg_cnt":22,"msg_size":704010,"topics":{},"brokers":{
            "b:2/2":{"name":"b:2/2","nodeid":2,"state":"DOWN","outbuf_cnt":0},
            "a:1/1":{"name":"a:1/1","nodeid":1,"state":"UP","outbuf_cnt":3,"rtt":{"min":1,"avg":1500,"max":9}},
            "a:1/bootstrap":{"name":"a:1/bootstrap","nodeid":-1,"state":"UP","outbuf_cnt":0}}}
            """
        let statistics = try #require(KafkaStatistics(json: Array(json.utf8)))
        #expect(statistics.client == "rdkafka#producer-1")
        #expect(statistics.queuedRecords == 22)
        #expect(statistics.queuedBytes == 704_010)
        #expect(statistics.brokers.map(\.name) == ["a:1/1", "b:2/2"])
        #expect(statistics.brokers.map(\.state) == ["UP", "DOWN"])
        #expect(statistics.brokers.map(\.roundTrip) == [0.0015, 0])
        #expect(statistics.brokers.map(\.waitingRequests) == [3, 0])
        #expect(statistics.unreachableBrokers == "1 of 2 brokers reachable, not b:2/2")
    }

    @Test func `KafkaStatistics takes nothing else for statistics`() {
        #expect(KafkaStatistics(json: Array("{}".utf8)) == nil)
        #expect(KafkaStatistics(json: []) == nil)
    }
}

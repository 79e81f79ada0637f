import Contracts
import Testing

@Suite struct TopicsTests {
    @Test func `no two topics share a name`() {
        #expect(Set(Topics.all.map(\.name)).count == Topics.all.count)
    }

    @Test func `every topic has a writer`() {
        for route in Topics.all { #expect(!route.writers.isEmpty, "\(route.name)") }
    }

    @Test func `every service has a topic`() {
        let named = Set(Topics.all.flatMap { $0.writers + $0.readers })
        #expect(named == Set(ServiceName.allCases))
    }

    @Test func `a stage reads what the stage before it writes`() {
        #expect(Topics.received.route.readers == Topics.verified.route.writers)
        #expect(Topics.verified.route.readers == Topics.unique.route.writers)
    }
}

import Contracts
import Records
import Testing

@Suite struct TopicsTests {
    @Test func `Topics have unique names`() {
        #expect(Set(Topics.all.map(\.name)).count == Topics.all.count)
    }

    @Test func `Topics have a writer each`() {
        for route in Topics.all { #expect(!route.writers.isEmpty, "\(route.name)") }
    }

    @Test func `Services have a topic each`() {
        let named = Set(Topics.all.flatMap { $0.writers + $0.readers })
        #expect(named == Set(ServiceName.all))
    }

    @Test func `Stages read what the stage before them writes`() {
        #expect(Topics.received.route.readers == Topics.verified.route.writers)
        #expect(Topics.verified.route.readers == Topics.unique.route.writers)
    }
}

import TestSupport
import Testing

@testable import Chassis

@Suite struct HealthTests {
    private let clock = ManualClock()
    private var health: Health { Health(instant: { [clock] in clock.instant }) }

    @Test func `Health without checks and loops is alive and ready`() {
        #expect(health.hung.isEmpty)
        #expect(health.notReady.isEmpty)
    }

    @Test func `Health is not ready before every check is met, and names the others`() {
        let health = health
        let kafka = health.readinessCheck("kafka")
        let database = health.readinessCheck("database", waitingFor: "the migration")
        #expect(health.notReady == ["kafka: waiting for the first connection", "database: waiting for the migration"])
        kafka.passes()
        #expect(health.notReady == ["database: waiting for the migration"])
        database.passes()
        #expect(health.notReady.isEmpty)
        kafka.fails("stopped: 100 dead letters in a row")
        #expect(health.notReady == ["kafka: stopped: 100 dead letters in a row"])
    }

    @Test func `Health stays draining, whatever the checks say`() {
        let health = health
        let kafka = health.readinessCheck("kafka")
        health.drain()
        kafka.passes()
        #expect(health.notReady == ["draining: the process is stopping"])
        #expect(health.hung.isEmpty)
    }

    @Test func `Health is alive until a loop was silent for longer than its limit, and again when it reports`() {
        let health = health
        let liveness = health.livenessProbe("verifier", limit: .seconds(30))
        clock.advance(by: .seconds(30))
        #expect(health.hung.isEmpty)
        clock.advance(by: .seconds(1))
        #expect(health.hung == ["verifier made no progress for 31 s, more than its limit of 30 s"])
        liveness.beat()
        #expect(health.hung.isEmpty)
        #expect(health.notReady.isEmpty)
    }

    @Test func `Health is not alive while the wall clock is behind where it was`() {
        let health = health
        health.addLivenessCheck(
            ofClock: ProcessClock(now: { [clock] in clock.now }, instant: { [clock] in clock.instant }))
        clock.advance(by: .seconds(86_400))
        #expect(health.hung.isEmpty)
        clock.setAhead(by: -30)
        #expect(health.hung.isEmpty, "as a clock is corrected")
        clock.setAhead(by: -3570)
        let reason = "the wall clock was set back by 3600 s, for which clients of Kafka stand still"
        #expect(health.hung == [reason])
        clock.advance(by: .seconds(3600))
        #expect(health.hung == [reason])
        clock.setAhead(by: 3600)
        #expect(health.hung.isEmpty)
        // Ahead and back again: what began to wait in between waits for that long.
        clock.setAhead(by: 3600)
        #expect(health.hung.isEmpty)
        clock.setAhead(by: -3600)
        #expect(health.hung == [reason])
    }
}

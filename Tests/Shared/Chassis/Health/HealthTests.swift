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
}

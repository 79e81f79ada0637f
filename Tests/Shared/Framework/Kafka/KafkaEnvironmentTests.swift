import Foundation
import TestSupport
import Testing

@testable import Kafka

@Suite struct KafkaEnvironmentTests {
    @Test func `KafkaEnvironment maps variables to librdkafka's names with underscores`() throws {
        let overrides = try KafkaConfiguration.overrides(environment: [
            "KAFKA_BOOTSTRAP_SERVERS": "a:1", "KAFKA_SASL_MECHANISM": "PLAIN", "KAFKA_LINGER_MS": "10", "HOME": "/",
        ])
        #expect(overrides == ["sasl.mechanism": "PLAIN", "linger.ms": "10"])
    }

    @Test func `KafkaEnvironment ignores what Kubernetes adds beside a service called kafka`() throws {
        let overrides = try KafkaConfiguration.overrides(environment: [
            "KAFKA_SERVICE_HOST": "10.0.0.1", "KAFKA_SERVICE_PORT": "9092", "KAFKA_PORT": "tcp://10.0.0.1:9092",
            "KAFKA_PORT_9092_TCP_ADDR": "10.0.0.1",
        ])
        #expect(overrides.isEmpty)
    }

    @Test func `KafkaEnvironment reads a secret from its file without the newline at its end`() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let file = try directory.write("password", "secret\n")
        let overrides = try KafkaConfiguration.overrides(environment: ["KAFKA_SASL_PASSWORD_FILE": file])
        #expect(overrides == ["sasl.password": "secret"])
    }

    @Test func `KafkaEnvironment names every file that cannot be read`() throws {
        let error = try #require(throws: KafkaConfigurationError.self) {
            try KafkaConfiguration.overrides(environment: [
                "KAFKA_SASL_PASSWORD_FILE": "/no/such/a", "KAFKA_SSL_KEY_PASSWORD_FILE": "/no/such/b",
            ])
        }
        #expect(error.problems.count == 2)
        #expect(error.description.contains("KAFKA_SASL_PASSWORD_FILE"))
        #expect(error.description.contains("/no/such/b"))
    }

    @Test func `KafkaEnvironment checks all variables at once`() throws {
        let fine = try KafkaConfiguration(environment: ["KAFKA_LINGER_MS": "1"], fallback: "b:2")
        #expect(fine.bootstrapServers == "b:2")
        #expect(
            try KafkaConfiguration(environment: ["KAFKA_BOOTSTRAP_SERVERS": "a:1"], fallback: "b:2").bootstrapServers
                == "a:1")
        #expect(throws: KafkaConfigurationError.self) {
            try KafkaConfiguration(environment: ["KAFKA_LINGRE_MS": "1"], fallback: "b:2")
        }
    }
}

import Foundation
import Testing

@testable import Kafka

@Suite struct KafkaConfigurationTests {
    @Test func `KafkaConfiguration lets an operator's setting override the project's`() {
        let configuration = KafkaConfiguration(bootstrapServers: "a:1", overrides: ["linger.ms": "50"])
        #expect(configuration.producerSettings()["linger.ms"] == "50")
        #expect(configuration.producerSettings()["acks"] == "all")
        #expect(configuration.producerSettings()["bootstrap.servers"] == "a:1")
        let preferring = configuration.preferring(["linger.ms": "3", "batch.size": "1000"])
        #expect(preferring.producerSettings()["linger.ms"] == "50")
        #expect(preferring.producerSettings()["batch.size"] == "1000")
    }

    @Test func `KafkaConfiguration uses idempotence from the release that repaired it`() {
        let configuration = KafkaConfiguration(bootstrapServers: "a:1")
        #expect(configuration.producerSettings(libraryVersion: 0x0200_02ff)["enable.idempotence"] == "false")
        #expect(configuration.producerSettings(libraryVersion: 0x0203_00ff)["enable.idempotence"] == "true")
    }

    @Test func `KafkaConfiguration reports every problem at once and no secret with it`() throws {
        let configuration = KafkaConfiguration(
            bootstrapServers: " ",
            overrides: [
                "enable.auto.commit": "true", "no.such.setting": "1", "linger.ms": "soon", "group.id": "mine",
                "sasl.password": "geheim",
            ])
        let error = try #require(throws: KafkaConfigurationError.self) { try configuration.validate() }
        #expect(error.problems.count == 5)
        for word in ["KAFKA_BOOTSTRAP_SERVERS", "enable.auto.commit", "no.such.setting", "\"soon\"", "group.id"] {
            #expect(error.description.contains(word))
        }
        #expect(!error.description.contains("geheim"))
    }

    @Test(arguments: ProjectSettings.fixed.keys.sorted())
    func `KafkaConfiguration rejects settings that the code relies on`(name: String) {
        let configuration = KafkaConfiguration(bootstrapServers: "a:1", overrides: [name: "1"])
        #expect(throws: KafkaConfigurationError.self) { try configuration.validate() }
        #expect(throws: KafkaConfigurationError.self) { try Producer(configuration, logger: quiet) }
        #expect(throws: KafkaConfigurationError.self) { try Consumer(configuration, group: "g", logger: quiet) }
        #expect(throws: KafkaConfigurationError.self) { try KafkaAdmin(configuration, logger: quiet) }
    }

    @Test func `KafkaConfiguration reports contradicting settings as an error, not a crash`() {
        let configuration = KafkaConfiguration(
            bootstrapServers: "a:1",
            overrides: ["session.timeout.ms": "3600000", "max.poll.interval.ms": "1000"])
        #expect(throws: KafkaConfigurationError.self) { try Consumer(configuration, group: "g", logger: quiet) }
    }

    @Test(arguments: [
        "sasl.password", "ssl.key.password", "ssl.key.pem", "sasl.oauthbearer.client.secret", "ssl.keystore.password",
    ]) func `KafkaConfiguration hides secrets`(name: String) {
        #expect(KafkaConfiguration.isSecret(name))
    }

    @Test(arguments: ["ssl.key.location", "sasl.username", "bootstrap.servers", "enable.auto.commit", "acks"])
    func `KafkaConfiguration shows what is no secret`(name: String) {
        #expect(!KafkaConfiguration.isSecret(name))
    }

    @Test(arguments: [
        ("enable.ssl.certificate.verification", "false"), ("ssl.endpoint.identification.algorithm", "None"),
    ])
    func `KafkaConfiguration warns about TLS that verifies no broker, by the variable's name`(
        name: String, value: String
    ) {
        let configuration = KafkaConfiguration(
            bootstrapServers: "a:1", overrides: ["security.protocol": "ssl", name: value])
        #expect(configuration.warnings().count == 1)
        #expect(configuration.warnings().first?.hasPrefix(KafkaConfiguration.variable(name)) == true)
        #expect(
            KafkaConfiguration(bootstrapServers: "a:1", overrides: ["security.protocol": "ssl"]).warnings().isEmpty)
    }

    @Test func `KafkaConfiguration warns about SCRAM with an old library before the log-in fails`() {
        var configuration = KafkaConfiguration(bootstrapServers: "a:1", overrides: ["sasl.mechanism": "SCRAM-SHA-512"])
        #expect(configuration.warnings(libraryVersion: 0x0206_00ff).count == 1)
        #expect(configuration.warnings(libraryVersion: 0x0206_01ff).isEmpty)
        configuration.overrides = ["sasl.mechanisms": "scram-sha-256"]
        #expect(configuration.warnings(libraryVersion: 0x0200_02ff).count == 1)
        configuration.overrides = ["sasl.mechanism": "PLAIN"]
        #expect(configuration.warnings(libraryVersion: 0x0200_02ff).isEmpty)
    }
}

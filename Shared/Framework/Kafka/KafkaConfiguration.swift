/// How to reach the broker, and librdkafka's settings by its own names.
///
/// The project's settings are below, the operator's above; a few that the code relies on cannot be changed, and trying to
/// is an error rather than being ignored.
public struct KafkaConfiguration: Sendable, Hashable {
    /// `host:port`, comma-separated.
    public var bootstrapServers: String
    /// librdkafka's names to values.
    public var overrides: [String: String]

    /// Checks nothing: see `validate`.
    public init(bootstrapServers: String, overrides: [String: String] = [:]) {
        self.bootstrapServers = bootstrapServers
        self.overrides = overrides
    }

    /// This configuration with these settings where the operator has set nothing.
    public func preferring(_ settings: [String: String]) -> KafkaConfiguration {
        KafkaConfiguration(bootstrapServers: bootstrapServers, overrides: settings.merging(overrides) { $1 })
    }

    /// Asks librdkafka whether it understands every setting, without connecting.
    /// - Throws: `KafkaConfigurationError` with all problems.
    public func validate() throws {
        var problems = fixedProblems
        if bootstrapServers.allSatisfy(\.isWhitespace) {
            problems.append("the list of brokers is empty: set KAFKA_BOOTSTRAP_SERVERS to host:port[,host:port…]")
        }
        do {
            _ = try ConfigurationHandle(settings: overrides.filter { ProjectSettings.fixed[$0.key] == nil })
        } catch let error as KafkaConfigurationError {
            problems += error.problems
        }
        guard problems.isEmpty else { throw KafkaConfigurationError(problems: problems) }
    }

    /// What an operator should know before the start, one sentence each; the caller logs them.
    /// - Parameter libraryVersion: `KafkaLibrary.version`, an argument so that a test can be older.
    public func warnings(libraryVersion: Int32 = KafkaLibrary.version) -> [String] {
        unverifiedPeer + loginImpossible(libraryVersion: libraryVersion)
    }

    private var unverifiedPeer: [String] {
        let settings = [
            "enable.ssl.certificate.verification": "false", "ssl.endpoint.identification.algorithm": "none",
        ]
        return settings.sorted { $0.key < $1.key }.compactMap { name, value in
            guard overrides[name]?.lowercased() == value else { return nil }
            return
                "\(Self.variable(name))=\(value): TLS does not prove that the broker is yours, so an attacker on the network can read and "
                + "write everything; remove it and set KAFKA_SSL_CA_LOCATION"
        }
    }

    private func loginImpossible(libraryVersion: Int32) -> [String] {
        let mechanism = overrides["sasl.mechanism"] ?? overrides["sasl.mechanisms"] ?? ""
        guard mechanism.uppercased().hasPrefix("SCRAM"), libraryVersion < 0x0206_01ff else { return [] }
        return [
            """
            \(mechanism) with this librdkafka (older than 2.6.1) cannot log in to Kafka 4.x: \
            use client certificates, or PLAIN over TLS, or run with a newer librdkafka
            """
        ]
    }

    /// Whether the value of a setting is left out of messages.
    static func isSecret(_ name: String) -> Bool {
        let words = ["password", "secret", "key.pem", "sasl.oauthbearer.config", "token", "jaas"]
        return words.contains { name.contains($0) } && !name.hasSuffix(".location") && !name.hasSuffix(".url")
    }

    private var fixedProblems: [String] {
        overrides.keys.sorted().compactMap { name in
            ProjectSettings.fixed[name].map { "\(name) cannot be set: \($0)" }
        }
    }
}

// MARK: Settings of each role

extension KafkaConfiguration {
    /// For ``Consumer/firstRecords(at:within:)``: one record of each partition is enough, however many follow.
    public var fetchingLittle: KafkaConfiguration {
        var configuration = self
        configuration.overrides.merge(
            ["fetch.message.max.bytes": "65536", "queued.max.messages.kbytes": "1024"]) { _, own in own }
        return configuration
    }
}

extension KafkaConfiguration {
    func clientSettings() -> [String: String] {
        var settings = ProjectSettings.client
        settings.merge(overrides) { _, explicit in explicit }
        settings["bootstrap.servers"] = bootstrapServers
        return settings
    }

    func producerSettings(
        messageTimeout: Duration = .seconds(60), libraryVersion: Int32 = KafkaLibrary.version
    ) -> [String: String] {
        var settings = ProjectSettings.producer
        settings["message.timeout.ms"] = String(messageTimeout.wholeMilliseconds)
        settings.merge(ProjectSettings.idempotence(libraryVersion: libraryVersion)) { _, new in new }
        settings.merge(clientSettings()) { _, explicit in explicit }
        return settings
    }

    func consumerSettings(group: String, offsetReset: Consumer.OffsetReset) -> [String: String] {
        var settings = ProjectSettings.consumer
        settings.merge(clientSettings()) { _, explicit in explicit }
        settings["group.id"] = group
        settings["auto.offset.reset"] = offsetReset.rawValue
        return settings
    }
}

extension [String: String] {
    /// Every 10 s unless the operator says otherwise; without a listener never, since formatting costs time.
    mutating func emitStatistics(_ isWanted: Bool) {
        let name = "statistics.interval.ms"
        self[name] = isWanted ? self[name] ?? "10000" : "0"
    }
}

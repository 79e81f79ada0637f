import Chassis
import WebhookDelivery

extension Variable where Value == String {
    /// The file with the key from which the secrets of endpoints are derived.
    package static var webhookKey: Variable {
        .path(
            webhookKeyName,
            "file with the key from which the secrets of webhook endpoints are derived, at least 32 characters on one line; "
                + "openssl rand -hex 32 creates one. Another key changes all secrets at once")
    }
}

extension Variable {
    /// Also read by the command line.
    package static var webhookKeyName: String { "STOREKEEPER_WEBHOOK_KEY_FILE" }
}

extension WebhookSecrets {
    /// One line of at least ``minimumKeyBytes`` bytes.
    /// - Throws: a problem of the file.
    package init(file path: String) throws(ConfigurationProblems) {
        let name = Variable<String>.webhookKeyName
        let lines = try KeyFile.lines(of: path, named: name)
        guard let key = lines.first, lines.count == 1, key.count >= Self.minimumKeyBytes else {
            throw ConfigurationProblems([
                .unusable(
                    name: name,
                    reason:
                        "names \(path), which must hold one line of at least \(Self.minimumKeyBytes) characters; openssl rand -hex 32 "
                        + "creates one")
            ])
        }
        self.init(key: key)
    }
}

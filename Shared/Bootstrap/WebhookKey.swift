import Chassis
import WebhookDelivery

import struct Foundation.Data
import class Foundation.FileManager

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
        func unusable(_ reason: String) -> ConfigurationProblems {
            ConfigurationProblems([.unusable(name: Variable<String>.webhookKeyName, reason: reason)])
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw unusable("names \(path), which cannot be read; check that it exists and its permissions")
        }
        let lines = [UInt8](data).split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        guard let key = lines.first, lines.count == 1, key.count >= Self.minimumKeyBytes else {
            throw unusable(
                "names \(path), which must hold one line of at least \(Self.minimumKeyBytes) characters; openssl rand -hex 32 "
                    + "creates one")
        }
        self.init(key: Array(key))
    }
}

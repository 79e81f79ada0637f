// Written by Deploy/generate from Deploy/services.json.
import Operations

extension ServiceKind {
    /// Whether it writes or reads records that need a seal.
    var holdsRecordKeys: Bool {
        [.verifier, .deduplicator, .stateUpdater, .recovery, .console].contains(self)
    }

    /// Whether it verifies what Apple signed.
    var trustsApple: Bool {
        [.verifier, .recovery, .scheduler, .api, .console].contains(self)
    }

    /// Whether it calls Apple's API.
    var callsApple: Bool {
        [.recovery, .scheduler, .api, .console].contains(self)
    }

    /// Whether it has the key of the secrets of webhooks.
    var sendsWebhooks: Bool {
        [.webhooks].contains(self)
    }

    /// Further variables where a run lasts minutes, and its record has no canaries.
    var localVariables: [String: String] {
        switch self {
        case .scheduler:
            [
                "STOREKEEPER_FAILURES_INTERVAL": "5s",
                "STOREKEEPER_CANARY_INTERVAL": "0s",
                "STOREKEEPER_OVERDUE_BUDGET": "0",
            ]
        case .webhooks:
            [
                "STOREKEEPER_DEVELOPMENT_MODE": "true"
            ]
        default: [:]
        }
    }
}

import Subscriptions

import struct Foundation.UUID

extension StatePreview {
    /// Why the purchases in the events stay without access for the account that uploads them, by original transaction id. One that
    /// the account may use is withheld by its state alone, and is none of them.
    /// - Parameter evidence: of the account for each purchase; `apple` where Apple names it.
    package func withheld(from account: UUID, _ evidence: [String: ClaimEvidence]) -> [String: WithheldReason] {
        let (usable, reasons) = (Set(usable(by: account)), reasons(of: account))
        return named.subtracting(usable).reduce(into: [:]) { withheld, key in
            let id = key.originalTransactionId
            withheld[id] =
                if refused.contains(key) {
                    .tooManyTransfers
                } else if overclaimed.contains(key) {
                    .tooManyAccounts
                } else if reasons[key] == .refused {
                    .refused
                } else {
                    WithheldReason(evidence[id], isTaken: isTaken(key, from: account))
                }
        }
    }
}

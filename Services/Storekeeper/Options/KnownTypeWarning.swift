import AppStore
import Commands
import Contracts

/// Warns about an unknown notificationType. Apple adds types, so the command still uses it. The type that the ledger gives to
/// notifications of version 1 is none of Apple's, and known.
enum KnownTypeWarning {
    static func warn(about type: String?, in context: CommandContext) {
        guard let type, type != VerifiedNotification.version1Type, !NotificationType(rawValue: type).isKnown else {
            return
        }
        let known = NotificationType.known.map(\.rawValue).sorted().joined(separator: ", ")
        context.warn("Unknown notificationType \(type.escaped); this release knows \(known).")
    }
}

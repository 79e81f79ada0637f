import AppStore
import Commands

/// Warns about an unknown notificationType. Apple adds types, so the command still uses it.
enum KnownTypeWarning {
    static func warn(about type: String?, in context: CommandContext) {
        guard let type, !NotificationType(rawValue: type).isKnown else { return }
        let known = NotificationType.known.map(\.rawValue).sorted().joined(separator: ", ")
        context.warn("Unknown notificationType \(type.escaped); this release knows \(known).")
    }
}

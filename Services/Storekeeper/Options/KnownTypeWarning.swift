import AppStore

/// A notificationType as somebody typed it. Apple adds new ones, so what is not known is asked for all the same.
enum KnownTypeWarning {
    static func warn(about type: String?, in context: CommandContext) {
        guard let type, !NotificationType(rawValue: type).isKnown else { return }
        let known = NotificationType.known.map(\.rawValue).sorted().joined(separator: ", ")
        context.warn("\(type.escaped) is no notificationType that this release knows; it knows \(known).")
    }
}

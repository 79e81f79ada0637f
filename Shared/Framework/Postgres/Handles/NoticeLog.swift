import CPQ
import Logging

/// Where the server's warnings go; without it libpq prints them to the process's standard error.
final class NoticeLog {
    let logger: Logger

    init(logger: Logger) { self.logger = logger }
}

/// Called by libpq on the thread that is inside libpq. Borrows the `NoticeLog`.
let noticeProcessor: PQnoticeProcessor = { context, message in
    guard let context, let message else { return }
    let log = Unmanaged<NoticeLog>.fromOpaque(context).takeUnretainedValue()
    log.logger.notice("Postgres says: \(String(cString: message).trimmingNewlines)")
}

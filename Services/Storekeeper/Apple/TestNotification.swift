import ArgumentParser
import Commands
import Foundation
import Operations
import ServerAPI
import Storage

/// `storekeeper test-notification`: requests a test notification and follows it to the database.
struct TestNotification: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "test-notification", abstract: "Request a test notification and follow it.",
        discussion: """
            Prints each step: Apple accepted the request, Apple sent the notification, Storekeeper stored it. Exit codes: \
            0 it is stored; 1 it is not, with the reason.

            Example: storekeeper test-notification --app com.example.app --environment Sandbox
            """)

    @OptionGroup var apple: AppleOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Timeout in seconds.")
    var timeout = Seconds(120)

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "test-notification", in: context)
        let ledger = NotificationStore(connection)
        let course = try await apple.withClient(in: context) { client in
            try await SignalHandler.cancellingOnSignal {
                try await TestNotificationProgress.following(
                    client, to: ledger, within: timeout.duration, now: context.now,
                    telling: { if !output.json { context.print($0) } })
            }
        }
        if output.json { try output.print(json: course, in: context) }
        guard course.recordedAt != nil else { throw CommandError(course.diagnosis) }
    }
}

struct TestNotificationProgress: Sendable, Encodable {
    /// One delivery attempt of Apple.
    struct Attempt: Sendable, Encodable, Equatable {
        var at: Date?
        /// Apple's `sendAttemptResult`.
        var result: String

        var isSuccess: Bool { result == SendAttemptResult.success.rawValue }
    }

    var bundleId: String
    var environment: String
    var requestedAt: Date
    var token = ""
    var notificationUUID: String?
    var attempts: [Attempt] = []
    var recordedAt: Date?

    /// Adds Apple's status of it. This is unverified; the ledger holds what is verified.
    mutating func note(_ item: NotificationHistoryItem) {
        notificationUUID = item.signedPayload.flatMap { DeadLetterContents(signedPayload: $0).notificationUUID }
        attempts = item.sendAttempts.map {
            Attempt(at: $0.attemptDate, result: $0.sendAttemptResult?.rawValue ?? "unknown")
        }
    }

    /// Why it is not in the ledger, and what to check.
    var diagnosis: String {
        guard let last = attempts.last else {
            return
                "Apple did not send the test notification in time; it may still arrive: storekeeper events list --type TEST"
        }
        guard last.isSuccess else {
            return
                "Apple could not deliver the test notification: \(last.result); check "
                + "\(SendAttemptResult(rawValue: last.result).remedy ?? "the URL in App Store Connect"), and the URL in App "
                + "Store Connect"
        }
        return "Apple received 200, but the ledger does not have it: see storekeeper status and dead-letters list"
    }
}

extension TestNotificationProgress {
    /// Requests a test notification and follows it to the ledger.
    /// - Parameter say: gets a line for each step.
    /// - Returns: how far it came in time.
    /// - Throws: `APIError` where Apple refuses, `PostgresError` where the ledger cannot be read.
    static func following(
        _ client: AppStoreServerAPI, to ledger: NotificationStore, within timeout: Duration, now: @Sendable () -> Date,
        telling say: (String) -> Void
    ) async throws -> TestNotificationProgress {
        var course = TestNotificationProgress(
            bundleId: client.app.bundleId, environment: client.environment.rawValue, requestedAt: now())
        course.token = try await client.requestTestNotification()
        say("Requested a test notification for \(course.bundleId), \(course.environment).")
        let deadline = ContinuousClock.now + timeout
        while true {
            if course.attempts.last?.isSuccess != true {
                do {
                    let before = course
                    course.note(try await client.testNotificationStatus(course.token))
                    if course.attempts != before.attempts, let last = course.attempts.last {
                        let remedy = SendAttemptResult(rawValue: last.result).remedy.map { ": \($0)" } ?? ""
                        say("Apple sent \(course.notificationUUID ?? "it"): \(last.result)\(remedy)")
                    }
                } catch let error as APIError where error.code == .testNotificationNotFound {}
            }
            if let uuid = course.notificationUUID.flatMap({ UUID(uuidString: $0) }),
                let line = try await ledger.line(uuid)
            {
                course.recordedAt = line.recordedAt
                let seconds = line.recordedAt.timeIntervalSince(line.receivedAt)
                say("Stored in the ledger \((seconds * 1000).inMilliseconds) after it was received.")
                return course
            }
            guard ContinuousClock.now < deadline else { return course }
            try await Task.sleep(for: .milliseconds(500))
        }
    }
}

import AppStore
import Bootstrap
import Chassis
import Foundation
import Signatures
import TestSupport
import Testing

@testable import AppStoreSamples
@testable import Verifier

@Suite struct TrustWatcherTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)
    private let files: TrustFiles
    private let material: ForgeryMaterial
    private let log = LogLines()
    private let clock = WakingClock()

    init() throws {
        files = try TrustFiles()
        material = try ForgeryMaterial(now: Self.now)
    }

    private func reason(_ watcher: TrustWatcher, _ jws: [UInt8]) -> VerificationFailureReason? {
        switch watcher.verifier.notification(jws, now: Self.now) {
        case .success: nil
        case .failure(let rejection): rejection.reason
        }
    }

    /// Runs the watcher while the body runs.
    private func running(
        _ watcher: TrustWatcher, _ body: @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await watcher.run() }
            await clock.someoneSleeps()
            try await body()
            group.cancelAll()
        }
    }

    @Test func `TrustWatcher trusts an added root without a restart, and a removed one no longer`()
        async throws
    {
        let roots = try files.write("roots.pem", material.stranger.rootPEM)
        let settings = try files.settings(roots: [roots], developmentMode: true)
        let watcher = try settings.trustWatcher(logger: log.logger, clock: clock)
        let genuine = try material.signed(material.envelope())
        #expect(reason(watcher, genuine) == .chainUntrusted)
        try await running(watcher) {
            try files.write("roots.pem", material.authority.rootPEM)
            await clock.turn(by: .seconds(2))
            #expect(reason(watcher, genuine) == nil)
            try files.write("roots.pem", material.stranger.rootPEM)
            await clock.turn(by: .seconds(2))
            // Proven a moment ago, but not by what is trusted now.
            #expect(reason(watcher, genuine) == .chainUntrusted)
        }
        #expect(log.containing("Reloaded roots and apps").count == 2)
    }

    @Test func `TrustWatcher accepts an added app without a restart`() async throws {
        let roots = try files.write("roots.pem", material.authority.rootPEM)
        try files.write(
            "apps.json", #"[{"bundleId": "com.example.else", "appAppleId": 1, "environments": ["Production"]}]"#)
        let settings = try files.settings(roots: [roots], developmentMode: true)
        let watcher = try settings.trustWatcher(logger: log.logger, clock: clock)
        let production = try material.signed(material.envelope())
        let sandbox = try material.signed(material.envelope { $0.data?.environment = .sandbox })
        #expect(reason(watcher, production) == .appUnknown)
        try await running(watcher) {
            try files.write("apps.json", TrustFiles.reader)
            await clock.turn(by: .seconds(2))
            #expect(reason(watcher, production) == nil)
            #expect(reason(watcher, sandbox) == .environment)
        }
    }

    @Test func `TrustWatcher ignores a file with a mistake, and reads it once it is corrected`() async throws {
        let roots = try files.write("roots.pem", material.authority.rootPEM)
        let settings = try files.settings(roots: [roots], developmentMode: true)
        let watcher = try settings.trustWatcher(logger: log.logger, clock: clock)
        let genuine = try material.signed(material.envelope())
        try await running(watcher) {
            try files.write("apps.json", #"[{"bundleId": "com.example.reader""#)
            await clock.turn(by: .seconds(2))
            #expect(reason(watcher, genuine) == nil)
            #expect(log.containing("error Could not reload roots and apps; keeping the previous version").count == 1)
            // The same mistake is not told every two seconds.
            await clock.turn(by: .seconds(2))
            #expect(log.containing("Could not reload").count == 1)
            try files.write("apps.json", TrustFiles.reader.replacingOccurrences(of: "1234567890", with: "5"))
            await clock.turn(by: .seconds(2))
            #expect(reason(watcher, genuine) == .appMismatch)
        }
    }

    @Test func `TrustWatcher keeps what is known about revocation`() async throws {
        let roots = try files.write("roots.pem", material.authority.rootPEM)
        let revocations = RevocationRegister()
        let settings = try files.settings(roots: [roots], developmentMode: true)
        let watcher = try settings.trustWatcher(revocations: revocations, logger: log.logger, clock: clock)
        let genuine = try material.signed(material.envelope())
        #expect(reason(watcher, genuine) == nil)
        revocations.note(.revoked, ofCertificate: try Certificate(der: material.authority.leaf).sha256)
        try await running(watcher) {
            try files.write("apps.json", TrustFiles.reader + "\n")
            await clock.turn(by: .seconds(2))
            #expect(log.containing("Reloaded roots and apps").count == 1)
            #expect(reason(watcher, genuine) == .revoked)
        }
    }

    @Test func `Development mode is logged as a warning, and production logs nothing of it`() throws {
        let roots = try files.write("roots.pem", material.authority.rootPEM)
        _ = try files.settings(roots: [roots], developmentMode: true).trustWatcher(
            logger: log.logger, clock: clock)
        #expect(log.containing("warning DEVELOPMENT MODE").count == 1)
        #expect(log.containing(roots).count == 1)
        let production = LogLines()
        _ = try files.settings().trustWatcher(logger: production.logger, clock: clock)
        #expect(production.all.isEmpty)
    }
}

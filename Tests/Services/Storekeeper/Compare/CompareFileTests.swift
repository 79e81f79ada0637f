import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import Storekeeper

/// The files of a directory that are compared.
struct CompareFileTests {
    private static let revenueCat = "rc_original_app_user_id,store,is_sandbox,store_transaction_id\n"
    private static let adapty = "profile_id,customer_user_id,original_transaction_id,environment,store\n"
    private static let moment = Date(timeIntervalSince1970: 1_790_000_000)

    /// - Parameter files: their names and contents, each changed a minute later than the one before.
    private static func files(
        _ files: [(name: String, text: String)], takenAt: Date? = nil
    ) throws -> [(names: [String], takenAt: Date)] {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        for (index, file) in files.enumerated() {
            let url = directory.url(file.name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(file.text.utf8).write(to: url)
            try FileManager.default.setAttributes(
                [.modificationDate: moment.addingTimeInterval(Double(index) * 60)], ofItemAtPath: url.path)
        }
        return try CompareFile.all(in: directory.path(""), columns: nil, takenAt: takenAt).map { file in
            (file.paths.map { ($0 as NSString).lastPathComponent }, file.takenAt)
        }
    }

    @Test func `The files of a bucket are in a directory for each day, as RevenueCat writes them`() throws {
        let found = try Self.files([
            ("2026-11-26/transactions_1.csv", Self.revenueCat), ("2026-11-27/transactions_2.csv", Self.revenueCat),
            ("2026-11-27/transactions_2.csv.outcomes", "{}"), (".cache/other", "x"),
        ])
        #expect(found.map(\.names) == [["transactions_1.csv"], ["transactions_2.csv"]])
        #expect(found.map(\.takenAt) == [Self.moment, Self.moment.addingTimeInterval(60)])
    }

    @Test func `A moment is of one file, or of all of Adapty's`() throws {
        let midnight = Self.moment.addingTimeInterval(-3600.5)
        let found = try Self.files([("1.csv", Self.adapty), ("2.csv", Self.adapty)], takenAt: midnight)
        #expect(found.map(\.names) == [["1.csv", "2.csv"]])
        #expect(found.map(\.takenAt) == [Self.moment.addingTimeInterval(-3601)])
        #expect(throws: ValidationError.self) {
            try Self.files([("1.csv", Self.revenueCat), ("2.csv", Self.revenueCat)], takenAt: midnight)
        }
    }

    @Test func `A file of another kind is named`() throws {
        let fault = try #require(throws: ValidationError.self) {
            _ = try Self.files([("1.csv", Self.adapty), ("visits.csv", "profile_id,paywall_id\n")])
        }
        #expect(fault.message.contains("visits.csv begins neither"), "\(fault)")
    }
}

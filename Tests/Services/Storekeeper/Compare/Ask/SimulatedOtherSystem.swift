import Commands
import Contracts
import Development
import Foundation
import Operations
import StrictJSON
import TestSupport
import Testing

@testable import SimulatedAppStore
@testable import Storekeeper

/// The simulator as the system that an app moves from: its API over HTTP, and the export that says the same.
struct SimulatedOtherSystem: Sendable {
    static let now = Date(milliseconds: 1_795_000_000_000)
    static let app = App(bundleId: "com.example.app", appAppleId: 1, environment: .production)
    private static let accounts = ["7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b", "01d5c7c4-7d0c-4c26-a96d-9cf1a8f0a9a5"]

    let shape: ExportShape
    let store: RunningAppStore
    /// The export, as its file.
    let text: String

    /// The address of the API.
    var url: String { "\(store.url)/other-system/\(shape.rawValue)" }
    var system: OtherSystem { shape == .adapty ? .adapty : .revenuecat }
    /// As the system's keys look.
    var key: String { shape == .adapty ? "secret_live_1" : "sk_1" }

    /// Serves while the body runs: customers about whom it is right, and so many for each cause of a difference.
    static func use(
        _ shape: ExportShape, differences: Int = 2, _ body: @Sendable (SimulatedOtherSystem) async throws -> Void
    ) async throws {
        let authority = try DevelopmentAuthority(now: now)
        try await RunningAppStore.with(
            [app], keys: [], signer: NotificationSigner(authority: authority, impostor: authority), present: { now }
        ) { store in
            for (account, product) in [
                (accounts[0], "premium.monthly"), (accounts[0], "filters.unlocked"), (accounts[1], "premium.yearly"),
            ] {
                let body = """
                    {"productId":"\(product)","environment":"Production","appAccountToken":"\(account)"}
                    """
                _ = try await post("purchases", body, to: store)
            }
            let answer = try await post(
                "exports", #"{"shape":"\#(shape.rawValue)","environment":"Production","differences":\#(differences)}"#,
                to: store)
            try await body(
                SimulatedOtherSystem(shape: shape, store: store, text: try #require(answer["text"]?.string)))
        }
    }

    private static func post(_ path: String, _ body: String, to store: RunningAppStore) async throws -> JSONValue {
        let page = try await HTTPPage(
            at: "\(store.url)/simulator/\(path)", posting: Array(body.utf8), within: .seconds(60))
        try #require(page.status == 201, "\(page.text)")
        return try JSONDocument(Array(page.text.utf8)).root
    }

    /// What a file says: of each customer and product the store, and until when it gives access now. What is used up is left out.
    func statements(of path: String) throws -> Set<String> {
        let reader = ImportReader(bundleId: Self.app.bundleId, environment: .production, now: Self.now)
        var shape: ImportShape?
        var records: [String: [IncumbentRecord]] = [:]
        try ImportFile(pieces: FilePieces(path: path), columns: nil).read {
            shape = $0
        } each: { content, line in
            guard let shape, case .record(let record) = content else {
                Issue.record("\(path):\(line) is no record")
                return
            }
            switch reader.access(of: record, line: line, shape) {
            case .records(let customer, _, let read):
                for record in read where record.product?.contains("coins") == false {
                    records["\(customer) \(record.product ?? "") \(record.store) \(record.isSandbox)", default: []]
                        .append(record)
                }
            case .skipped(let skip): Issue.record("\(path):\(line): \(skip)")
            case .fault(let reason): Issue.record("\(path):\(line): \(reason)")
            }
        }
        return Set(
            records.compactMap { key, records -> String? in
                let ends = records.map { [$0.endsAt, $0.refundedAt].compactMap(\.self).min() ?? .distantFuture }
                let isNow = zip(records, ends).contains { record, end in
                    (record.startsAt ?? .distantPast) <= Self.now && Self.now < end
                }
                return isNow ? "\(key) \(ends.max() ?? .distantPast)" : nil
            })
    }

    /// The customers of the export, in their order.
    func customers() throws -> [String] {
        let column = shape == .adapty ? "customer_user_id" : "rc_last_seen_app_user_id_alias"
        var values = SeparatedValues()
        var rows = try values.append(text.utf8)
        if let last = try values.finish() { rows.append(last) }
        let place = try #require(rows[0].fields.firstIndex(of: column))
        var seen: Set<String> = []
        return rows.dropFirst().map { $0.fields[place] }.filter { seen.insert($0).inserted }
    }
}

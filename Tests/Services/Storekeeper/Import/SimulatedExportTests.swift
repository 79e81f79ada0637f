import Contracts
import Foundation
import TestSupport
import Testing

@testable import SimulatedAppStore
@testable import Storekeeper

/// The import of files that the simulator writes of its customers.
struct SimulatedExportTests {
    private static let now = Date(milliseconds: 1_795_000_000_003)
    private static let accounts = ["7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b", "01d5c7c4-7d0c-4c26-a96d-9cf1a8f0a9a5"]

    private static func export(
        _ shape: ExportShape, in environment: StoreEnvironment = .production, differences: Int
    ) throws -> CustomerExport {
        let app = App(bundleId: "com.example.app", appAppleId: 1, environment: environment)
        var outbox = Outbox(plan: Plan(apps: [app], count: 1), now: now)
        // Customers about whom it is right: one who renewed, one with two purchases, and one with whom one is shared.
        let bought: [(account: String?, product: String)] = [
            (accounts[0], "premium.monthly"), (accounts[1], "premium.yearly"), (accounts[1], "coins.100"),
            (nil, "storage.monthly"),
        ]
        for (account, product) in bought {
            let buyer = ManualPurchases.Buyer(
                app: app, appAccountToken: account.flatMap { UUID(uuidString: $0) }, isFamilyShared: account == nil)
            _ = try outbox.buy(
                try Catalogue().product(product, in: app.bundleId), for: buyer, at: now.adding(-45 * 86_400))
        }
        return try CustomerExport(
            shape, of: app, selling: Catalogue(), differences: differences, in: &outbox, at: now)
    }

    private static func read(_ export: CustomerExport) throws -> ImportList {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try Data(export.text.utf8).write(to: directory.url("file"))
        return try ImportList(
            FilePieces(path: directory.path("file")),
            reader: ImportReader(
                bundleId: "com.example.app", environment: export.app.environment, takesGrants: false, now: now))
    }

    @Test(arguments: ExportShape.allCases, StoreEnvironment.ofApple)
    func `What import reads of a simulated export is what the simulator wrote`(
        shape: ExportShape, environment: StoreEnvironment
    ) throws {
        let export = try Self.export(shape, in: environment, differences: 3)
        let list = try Self.read(export)
        #expect(list.faults.isEmpty, "\(list.faults)")
        #expect(list.shape == (shape == .adapty ? .adapty : .revenueCat))
        #expect(list.records == export.records.count)
        let own = export.records.filter { $0.store == .appStore && $0.isSandbox == (environment == .sandbox) }
        #expect(
            Dictionary(uniqueKeysWithValues: list.rows.map { ($0.customerId, Set($0.originalTransactionIds)) })
                == own.reduce(into: [:]) { $0[$1.customerId, default: []].insert($1.originalTransactionId ?? "") })
        #expect(list.skipped[.otherStore] == 3)
        #expect(list.skipped[.grant] == (shape.hasAccessByHand ? 3 : nil))
        #expect(list.skipped[.otherEnvironment] == (environment == .production ? 3 : nil))
    }

    @Test
    func
        `An export differs in each cause as often as it was asked to, and says of all other customers what Apple says`()
        throws
    {
        let without = try Self.export(.revenueCat, differences: 0)
        #expect(without.differences.isEmpty)
        let text = without.text.split(separator: "\n")
        #expect(text.count == without.records.count + 1)
        // Renewed by time: the month that is over, and the one that runs.
        let renewed = without.records.filter { $0.productId == "com.example.app.premium.monthly" }
        #expect(renewed.map(\.isRenewal) == [false, true])
        #expect(renewed.map { $0.effectiveEnd == $0.end } == [true, true])
        #expect(renewed.last?.effectiveEnd.map { $0 > Self.now } == true)

        let export = try Self.export(.revenueCat, differences: 2)
        #expect(export.differences == Dictionary(uniqueKeysWithValues: DifferenceCause.allCases.map { ($0, 2) }))
        #expect(Array(export.records.prefix(without.records.count)) == without.records)
        // In the other system's file three of them ended too early, or began and were lost; all others have access.
        let products = Set(without.records.map(\.customerId))
        let access = export.records.filter { !products.contains($0.customerId) }.filter {
            $0.givesAccess && $0.refundedAt == nil && ($0.effectiveEnd.map { $0 > Self.now } ?? true)
        }
        // Five of the fifteen causes are that it gives no access; an upgrade and a second owner have two records with it.
        #expect(access.count == 2 * (15 - 5 + 2))
    }
}

extension StoreEnvironment {
    /// Those in which the simulator sells.
    fileprivate static let ofApple: [StoreEnvironment] = [.production, .sandbox]
}

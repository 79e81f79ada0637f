import Operations
import Testing

@testable import Storekeeper

struct CustomerBucketsTests {
    @Test func `Customers whose ids differ in their Unicode form alone are two, in one bucket too`() throws {
        func bucket(_ id: String) -> UInt64 { id.digest % UInt64(CustomerBuckets.count) }
        let number = try #require((0..<100_000).first { bucket("\($0) Ren\u{E9}") == bucket("\($0) Rene\u{301}") })
        let buckets = try CustomerBuckets()
        for id in ["\(number) Ren\u{E9}", "\(number) Rene\u{301}"] {
            try buckets.add(IncumbentRecord(line: 1, store: .appStore), of: id, aliases: [])
        }
        var sizes: [Int] = []
        for bucket in 0..<CustomerBuckets.count { sizes.append(try buckets.customers(of: bucket)?.count ?? 0) }
        #expect(sizes.reduce(0, +) == 2)
    }
}

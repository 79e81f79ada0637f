import Contracts
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite(.hangLimit) struct RefundStatusStoreTests {
    @Test func `An answer that Apple has not taken waits for as long as the newest request gives time`() async throws {
        try await RefundFixture.use { fixture async throws in
            let sending = try #require(await fixture.sending(11))
            try await fixture.store.settle(sending, .again(RefundFixture.at(1400)), at: RefundFixture.at(11))
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 700)
            // The first request is older than twelve hours, the repeat is not.
            for (minute, waiting) in [(720.0, 1), (740, 1), (1419, 1), (1421, 0)] as [(Double, Int64)] {
                let status = try await RefundStatusStore(fixture.connection).status(at: RefundFixture.at(minute))
                #expect(status.map(\.waiting) == [waiting], "minute \(minute)")
                #expect(status.map(\.oldestWaiting) == [waiting == 1 ? RefundFixture.at(11) : nil], "minute \(minute)")
            }
        }
    }
}

import Contracts
import Foundation
import Testing

@testable import Simulator

@Suite struct ArchiveTests {
    private let now = LetterWriterTests.now

    @Test func `beyond the limit the oldest are forgotten, with those they were about`() throws {
        let archive = Archive(limit: 50)
        let writer = try LetterWriterTests.writer()
        let notices = Story.subscriptions(100)
        for notice in notices {
            archive.note(notice)
            _ = archive.begin(Delivery(letter: try writer.write(Draft(notice: notice))), at: { now })
        }
        archive.withShelf(of: Desk.production) { shelf in
            #expect((50...55).contains(shelf.range.count))
            #expect(shelf.range.upperBound == 100)
            let first = notices[shelf.range.lowerBound]
            #expect(shelf[shelf.range.lowerBound].uuid == first.uuid.uuidString.lowercased())
            #expect(shelf.notification(uuid: notices[0].uuid.uuidString.lowercased()) == nil)
            #expect(shelf.subscriber(ofTransaction: notices[0].purchase?.transactionId ?? "") == nil)
            #expect(shelf.subscriber(ofTransaction: first.purchase?.transactionId ?? "") != nil)
        }
    }

    @Test func `a forgery is not Apple's, and a deliberate repetition no attempt of Apple's`() throws {
        let archive = Archive(limit: 50)
        let writer = try LetterWriterTests.writer()
        let forged = Draft(notice: Story.subscriptions(1)[0], forgery: .tampered)
        let forgery = Delivery(letter: try writer.write(forged))
        archive.end(forgery, .accepted, sentAt: archive.begin(forgery, at: { now }))
        var genuine = Delivery(letter: try writer.write(Draft(notice: Story.subscriptions(2)[1])))
        archive.end(genuine, .accepted, sentAt: archive.begin(genuine, at: { now }))
        genuine.isRepetition = true
        archive.end(genuine, .unavailable, sentAt: archive.begin(genuine, at: { now }))
        archive.withShelf(of: Desk.production) { shelf in
            #expect(shelf.range.count == 1)
            #expect(shelf[0].attempts.map(\.result) == [.success])
        }
    }

    @Test func `an older notice that comes late changes neither belief nor transaction`() throws {
        let archive = Archive(limit: 50)
        var story = Story()
        let first = story.next(.subscribe)
        let off = story.next(.turnRenewalOff)
        let refund = story.next(.refund)
        for notice in [first, refund, off] { archive.note(notice) }
        let subscriber = archive.withShelf(of: Desk.production) { $0.subscriber(story.id) }
        #expect(subscriber?.newest == refund)
        #expect(subscriber?.transactions.map(\.purchase) == [try #require(refund.purchase)])
    }

    @Test func `a clock that is put back does not break the order`() throws {
        let archive = Archive(limit: 50)
        let writer = try LetterWriterTests.writer()
        for (notice, date) in zip(Story.subscriptions(3), [now, now.adding(-100), now.adding(1)]) {
            _ = archive.begin(Delivery(letter: try writer.write(Draft(notice: notice))), at: { date })
        }
        archive.withShelf(of: Desk.production) { shelf in
            #expect(shelf.range.map { shelf[$0].firstAttempt } == [now, now, now.adding(1)])
            #expect(shelf.position(of: now.adding(1)) == 2)
        }
    }
}

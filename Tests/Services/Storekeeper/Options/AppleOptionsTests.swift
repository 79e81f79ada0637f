import Commands
import Foundation
import ServerAPI
import Testing

@testable import Storekeeper

struct AppleOptionsTests {
    @Test func `Context of a command that asks Apple has a clock that is not ahead of Apple's`() {
        let date = Date(timeIntervalSince1970: 1_780_000_000)
        var context = CommandContext(
            // A simulator's clock is a day ahead of the machine's.
            now: { date.addingTimeInterval(600 + 86_400) }, seed: { 1 }, id: { UUID() }, executable: nil,
            environment: [:],
            user: "t", print: { _ in }, warn: { _ in }, confirm: nil)
        context.unmoved = { date.addingTimeInterval(600) }
        let apple = AppleTime(elapsed: { .zero })
        let following = context.notAhead(of: apple)
        #expect(following.now() == context.now())
        apple.answered(date, after: .zero)
        // Apple's dates have no fractions of a second.
        #expect(following.now() == date.addingTimeInterval(1 + 86_400))
    }
}

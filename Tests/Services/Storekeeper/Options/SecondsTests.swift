import Commands
import Testing

@testable import Storekeeper

struct SecondsTests {
    @Test(arguments: [("3", Duration.seconds(3)), ("0.5", .milliseconds(500)), ("86400", .seconds(86_400))])
    func `Seconds are read with fractions`(text: String, duration: Duration) {
        #expect(Seconds(argument: text)?.duration == duration)
    }

    @Test(arguments: ["nan", "inf", "-inf", "1e30", "-1", "0", "", "3s"])
    func `Seconds that are no time to wait are rejected, not a crash`(text: String) async {
        #expect(Seconds(argument: text) == nil)
        #expect(await CommandOutcome.of(["healthcheck", "http://127.0.0.1:1", "--timeout=\(text)"]).code == 64)
    }
}

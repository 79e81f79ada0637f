import Testing

@testable import Storekeeper

struct SecondsTests {
    @Test(arguments: [("3", Duration.seconds(3)), ("0.5", .milliseconds(500)), ("86400", .seconds(86_400))])
    func `seconds are read with fractions`(text: String, duration: Duration) {
        #expect(Seconds(argument: text)?.duration == duration)
    }

    @Test(arguments: ["nan", "inf", "-inf", "1e30", "-1", "0", "", "3s"])
    func `what is no time to wait is rejected, not a crash`(text: String) async {
        #expect(Seconds(argument: text) == nil)
        #expect(await CommandOutcome.of(["healthcheck", "http://127.0.0.1:1", "--timeout=\(text)"]).code == 64)
    }
}

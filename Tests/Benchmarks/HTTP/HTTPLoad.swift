import ArgumentParser

/// What the measurements of HTTP need: requests, and two servers that answer without thinking.
@main
struct HTTPLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "http-load", subcommands: [Load.self, Post.self, ServeHummingbird.self, ServeFixed.self])
}

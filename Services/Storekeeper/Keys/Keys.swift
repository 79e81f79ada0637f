import ArgumentParser

/// `storekeeper keys`: keys of the API.
struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Create, list and revoke API keys of app backends.",
        discussion: """
            A key belongs to one environment, may do what its scopes say, and asks about the apps it is for. It is \
            printed once, when it is created; only its SHA-256 is stored. A revocation is effective on all instances \
            within 5 seconds.

            Examples:
              storekeeper keys create --name backend --environment Production --app com.example.app \\
                --scope entitlements:read
              storekeeper keys list
              storekeeper keys revoke 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0
            """,
        subcommands: [KeysCreate.self, KeysList.self, KeysRevoke.self])
}

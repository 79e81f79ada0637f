import ArgumentParser

/// `storekeeper retention-messages`: what Apple shows customers who are about to cancel.
struct RetentionMessages: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retention-messages", abstract: "Manage the messages that Apple shows before a cancellation.",
        discussion: """
            Images and messages are uploaded to Apple and reviewed there. A message is shown as the default of a \
            product and language, or where the realtime URL answers it. Needs Apple's permission for the app. \
            Changes are in the audit log.

            Examples:
              storekeeper retention-messages upload message.json --app com.example.app
              storekeeper retention-messages list --app com.example.app
              storekeeper retention-messages default pro.monthly en-US --app com.example.app
            """,
        subcommands: [
            RetentionMessagesList.self, RetentionMessagesUpload.self, RetentionMessagesUploadImage.self,
            RetentionMessagesDelete.self, RetentionMessagesDeleteImage.self, RetentionMessagesDefault.self,
            RetentionMessagesURL.self, RetentionMessagesTest.self,
        ])
}

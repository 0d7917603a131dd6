package dev.holdfast.docs;

// @formatter:off
// snippet firstProgram
import dev.holdfast.Hold;
import dev.holdfast.LockClient;

public class First {
    public static void main(String[] args) throws InterruptedException {
        try (LockClient client = LockClient.connect("sqlite:locks.db");
                Hold hold = client.lock("order:42").acquire()) {
            System.out.println("holding, token " + hold.token());
        }
    }
}
// end
// @formatter:on

import java.util.Objects;

/** Checks of Java clients: each is run at once and told as `ok` or `not ok`. */
final class Checks {
    interface Body {
        void run() throws Exception;
    }

    static void check(String title, Body body) {
        try {
            body.run();
            System.out.println("ok " + title);
        } catch (Throwable error) {
            System.out.println("not ok " + title);
            error.printStackTrace(System.out);
        }
    }

    static void equal(Object found, Object expected) {
        if (!Objects.equals(found, expected)) {
            throw new AssertionError(found + " is not " + expected);
        }
    }

    private Checks() {}
}

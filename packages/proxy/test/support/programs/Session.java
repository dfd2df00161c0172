import java.sql.DriverManager;
import java.sql.SQLException;
import sun.misc.Signal;

/** Logs in with JDBC and prints who it is. `sleep`: runs a query until SIGINT, which cancels it, and prints the SQLSTATE. */
class Session {
  public static void main(String[] args) throws SQLException {
    try (var connection = DriverManager.getConnection(args[0], args[1], System.getenv("PGPASSWORD"));
        var statement = connection.createStatement()) {
      var rows = statement.executeQuery("select current_user");
      rows.next();
      System.out.println(rows.getString(1));
      if (!args[2].equals("sleep")) return;
      Signal.handle(new Signal("INT"), signal -> {
        try {
          statement.cancel();
        } catch (SQLException error) {
          error.printStackTrace();
        }
      });
      try {
        statement.executeQuery("select pg_sleep(600)");
      } catch (SQLException error) {
        System.out.println(error.getSQLState());
      }
    }
  }
}

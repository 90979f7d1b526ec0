export function AdminDashboard() {
  return <h1>AdminDashboard</h1>;
}

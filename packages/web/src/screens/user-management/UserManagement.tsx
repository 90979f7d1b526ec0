export function UserManagement() {
  return <h1>UserManagement</h1>;
}

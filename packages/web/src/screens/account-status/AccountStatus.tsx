export function AccountStatus() {
  return <h1>AccountStatus</h1>;
}

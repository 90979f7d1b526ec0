interface LogoProps {
  /** Pixels. */
  readonly size?: number;
}

/** The mark of the product: a glass slide with a stained section. The name stands beside it as text. */
export function Logo({ size = 32 }: LogoProps) {
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <g transform="rotate(-24 16 16)">
        <rect
          x="1.5"
          y="9"
          width="29"
          height="14"
          rx="2.5"
          fill="#fff"
          stroke="var(--mantine-primary-color-filled)"
          strokeWidth="1.75"
        />
        <path
          d="M4 9.9h4.8v12.2H4a1.6 1.6 0 0 1-1.6-1.6v-9A1.6 1.6 0 0 1 4 9.9z"
          fill="var(--mantine-color-haematoxylin-2)"
        />
        <path
          d="M14 16.6c0-2.8 2.1-4.6 4.8-4.2 1.7.3 2.3-.5 4-.2 2.5.4 4 2.4 3.4 4.8-.6 2.3-2.9 2.9-4.9 2.7-1.5-.2-2 .6-3.6.3-2.2-.3-3.7-1.6-3.7-3.4z"
          fill="var(--mantine-color-eosin-4)"
        />
        <circle cx="18.2" cy="15.6" r="1.25" fill="var(--mantine-color-haematoxylin-7)" />
        <circle cx="22.6" cy="16.8" r="1.25" fill="var(--mantine-color-haematoxylin-7)" />
      </g>
    </svg>
  );
}

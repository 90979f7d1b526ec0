interface LogoProps {
  /** Width and height in CSS pixels. */
  readonly size?: number;
}

/** The logo without the product's name: a glass slide with a stained tissue section. `public/icon.svg` is the same drawing. */
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
          d="M4 9.9h4.3v12.2H4a1.6 1.6 0 0 1-1.6-1.6v-9A1.6 1.6 0 0 1 4 9.9z"
          fill="var(--mantine-color-haematoxylin-2)"
        />
        <path
          d="M12 17.6c-.5-2.9 1.4-5.3 4.3-5.4 1.9-.1 2.7 1 4.6.6 2.6-.6 5.6.7 5.9 3.3.3 2.4-1.5 3.4-3.3 3.3-1.7-.1-2.2.9-4 1.3-3 .7-7-.2-7.5-3.1z"
          fill="var(--mantine-color-eosin-4)"
        />
        <path
          d="M12 17.6c-.5-2.9 1.4-5.3 4.3-5.4 1.9-.1 2.7 1 4.6.6-1.2 1.5-3.6 1.3-4.9 2.3-1.6 1.2-.6 3.3-1.5 5.1-1.3-.5-2.3-1.3-2.5-2.6z"
          fill="var(--mantine-color-haematoxylin-7)"
        />
      </g>
    </svg>
  );
}

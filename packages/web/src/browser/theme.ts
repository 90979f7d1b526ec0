/**
 * The theme of the product. Its colours are those of the most common stain in histology:
 * haematoxylin (blue-purple) for controls, eosin (rose) for highlights.
 */
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';
import { filterOptions } from './filter-options.ts';

const haematoxylin: MantineColorsTuple = [
  '#f4f3fb',
  '#e6e3f5',
  '#cac4ea',
  '#aca3de',
  '#978cd5',
  '#7d70c6',
  '#6658b4',
  '#54469d',
  '#463a86',
  '#352c68',
];

const eosin: MantineColorsTuple = [
  '#fdf1f4',
  '#fadfe6',
  '#f3bccb',
  '#eb97ae',
  '#e37895',
  '#dd6283',
  '#c93f66',
  '#ad3056',
  '#902747',
  '#701d37',
];

/** Greys of the dark scheme, slightly blue-purple to match the primary colour. */
const dark: MantineColorsTuple = [
  '#dedce6',
  '#c3c0cf',
  '#a7a3b8',
  '#75708a',
  '#4b4760',
  '#373448',
  '#2a2838',
  '#1d1b28',
  '#171520',
  '#100f17',
];

/**
 * Makes the list of options itself scroll. Mantine would scroll an element around it, which neither the keyboard nor a screen reader can
 * reach (WCAG 2.1.1; rule `scrollable-region-focusable` of axe).
 */
const scrollingOptions = {
  defaultProps: { size: 'md', withScrollArea: false },
  styles: { options: { maxHeight: '13.75rem', overflowY: 'auto' } },
} as const;

/** Fields with a list of options that the user may search. */
const searchableOptions = {
  ...scrollingOptions,
  defaultProps: { ...scrollingOptions.defaultProps, filter: filterOptions },
};

export const theme = createTheme({
  colors: { haematoxylin, eosin, dark },
  primaryColor: 'haematoxylin',
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  headings: { fontFamily: "'Inter Variable', system-ui, sans-serif", fontWeight: '650' },
  // Components are configured by name, so that this file does not load their code.
  components: {
    // Size `md` has 16 px text: legible, and phones do not zoom into a focused field.
    Button: { defaultProps: { size: 'md' } },
    TextInput: { defaultProps: { size: 'md' } },
    NumberInput: { defaultProps: { size: 'md' } },
    NativeSelect: { defaultProps: { size: 'md' } },
    PasswordInput: { defaultProps: { size: 'md' } },
    Textarea: { defaultProps: { size: 'md' } },
    FileInput: { defaultProps: { size: 'md' } },
    Select: searchableOptions,
    Autocomplete: scrollingOptions,
    MultiSelect: searchableOptions,
    // By default the library renders tooltips at the end of the body, outside every landmark of the page.
    Tooltip: { defaultProps: { portalProps: { target: 'main' } } },
    // The default `text-transform: uppercase` depends on the page's language: Turkish and English convert i and ı differently.
    Badge: { styles: { label: { textTransform: 'none' } } },
    // `inner` covers the whole width, so that the dialog is centred on the page.
    Modal: { styles: { inner: { insetInlineStart: 0 }, title: { fontSize: '1.125rem', fontWeight: 650 } } },
  },
});

/** Sets colours where Mantine's do not reach the contrast of WCAG AA (4.5:1), and the colours of the page's surfaces. */
export const cssVariablesResolver: CSSVariablesResolver = () => ({
  variables: { '--top-bar-height': '3.75rem' },
  light: {
    '--mantine-color-body': '#ffffff',
    '--mantine-color-text': '#221f30',
    '--mantine-color-dimmed': '#5c586b',
    '--mantine-color-placeholder': '#6f6b7e',
    '--mantine-color-error': '#b42334',
    '--mantine-color-default-border': '#d5d2de',
    '--page-background': '#f6f5fa',
    '--surface': '#ffffff',
    '--hairline': '#e4e1ec',
    '--tint-haematoxylin': '#e6e3f5',
    '--tint-eosin': '#fbe9ee',
  },
  dark: {
    '--mantine-color-body': dark[7],
    '--mantine-color-text': '#e8e6ef',
    '--mantine-color-dimmed': '#aeaabd',
    '--mantine-color-placeholder': '#9a95ac',
    '--mantine-color-error': '#ff8f97',
    '--mantine-color-default-border': dark[4],
    '--mantine-color-anchor': haematoxylin[3],
    '--mantine-color-haematoxylin-light': '#35305a',
    '--mantine-color-haematoxylin-light-color': haematoxylin[1],
    '--page-background': dark[8],
    '--surface': dark[7],
    '--hairline': dark[5],
    '--tint-haematoxylin': '#221f3a',
    '--tint-eosin': '#2b1c2a',
  },
});
